import { setTimeout } from "node:timers/promises";
import type { WrittenStatus } from "../faces/observe.ts";

/** Resolves to a status taken after this call. May have to wait, because the bot caches its status for a second. */
export async function readStatus(url: string, apiKey: string): Promise<WrittenStatus> {
  const asked = Date.now();
  const headers = { authorization: `Bearer ${apiKey}` };
  for (;;) {
    const response = await fetch(`${url}/readyz?verbose`, { headers });
    const status = (await response.json()) as WrittenStatus;
    if (Date.parse(String(status.at)) >= asked) return status;
    await setTimeout(50);
  }
}
