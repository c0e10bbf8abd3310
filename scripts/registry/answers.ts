import { setTimeout as pause } from "node:timers/promises";

/** Time limit for starting a server and interval between polls, in ms. */
const TIMEOUT_MS = 60_000;
const EVERY_MS = 50;

/** Polls a URL. Returns true on the first 2xx response, or false if the server ends or does not respond in time. */
export async function answers(url: string, isRunning: () => boolean): Promise<boolean> {
  const until = Date.now() + TIMEOUT_MS;
  while (isRunning() && Date.now() < until) {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return true;
    await pause(EVERY_MS);
  }
  return false;
}
