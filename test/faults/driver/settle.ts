import { setTimeout as wait } from "node:timers/promises";
import type { Ledger } from "./ledger.ts";
import type { Store } from "./store.ts";

const LOOK_INTERVAL_MS = 25;

/**
 * Waits until every written event is stored and none is pending, or until `goesOn` returns false.
 *
 * @param stuckMs time without progress after which the remaining events count as lost
 * @returns a sentence if there is no progress, with one line per unfinished lane
 */
export async function untilSettled(
  store: Store,
  ledger: Ledger,
  stuckMs: number,
  goesOn: () => boolean = () => true,
): Promise<string | undefined> {
  let before = "";
  let since = performance.now();
  for (; goesOn(); await wait(LOOK_INTERVAL_MS)) {
    const { stored = 0, pending = 0 } = (await store.progress()) ?? {};
    if (stored >= ledger.written.length && pending === 0) return undefined;
    const now = `${stored} ${pending} ${ledger.said}`;
    if (now !== before) since = performance.now();
    before = now;
    if (performance.now() - since < stuckMs) continue;
    const lanes = await store.unfinished();
    return [`stuck: ${pending} of ${stored} stored events are pending:`, ...lanes].join("\n");
  }
  return undefined;
}
