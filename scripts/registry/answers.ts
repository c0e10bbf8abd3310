import { setTimeout as pause } from "node:timers/promises";

/** How long a server may take to start, in milliseconds, and how often it is asked. */
const PATIENCE_MS = 60_000;
const EVERY_MS = 50;

/** True as soon as the address answers with 2xx; false when its server ends before, or takes too long. */
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
