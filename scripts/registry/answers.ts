import { setTimeout as pause } from "node:timers/promises";

/** In ms. The longest start of a server, and the interval of its polls. */
const PATIENCE_MS = 60_000;
const EVERY_MS = 50;

/** Polls a URL. Returns true at the first 2xx response; false if the server ends or takes too long. */
export async function answers(url: string, isRunning: () => boolean): Promise<boolean> {
  const until = Date.now() + PATIENCE_MS;
  while (isRunning() && Date.now() < until) {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return true;
    await pause(EVERY_MS);
  }
  return false;
}
