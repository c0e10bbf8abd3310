import { setTimeout as wait } from "node:timers/promises";
import type { Ledger } from "./ledger.ts";

export interface Settling {
  readonly ledger: Ledger;
  /** Undefined while it cannot be told. */
  progress(): Promise<{ readonly stored: number; readonly pending: number } | undefined>;
  /** It is given up when this is false. */
  goesOn(): boolean;
}

/** When nothing has moved for so long, the rest counts as lost; in milliseconds. */
export const PATIENCE_MS = 30_000;

/**
 * Waits until the inbox has everything that was written, and nothing of it is pending. Resolves to what keeps it
 * from that, in a sentence; to "" when it was given up; to undefined when it has come to that.
 */
export async function untilSettled({
  ledger,
  progress,
  goesOn,
}: Settling): Promise<string | undefined> {
  let before = "";
  let since = performance.now();
  while (goesOn()) {
    const { stored = 0, pending = 0 } = (await progress()) ?? {};
    if (stored >= ledger.written.length && pending === 0) return undefined;
    const now = `${stored} ${pending} ${ledger.said}`;
    if (now !== before) since = performance.now();
    before = now;
    if (performance.now() - since > PATIENCE_MS) {
      return `stuck: ${pending} of ${stored} stored events are pending, and nothing moves`;
    }
    await wait(50);
  }
  return "";
}
