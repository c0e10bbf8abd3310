import { type Clock, every as repeat, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Inbox, Retention } from "../inbox/inbox.ts";

export interface UpkeepOptions {
  readonly inbox: Pick<Inbox, "heal" | "sweep">;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long what has ended is kept; for ever by default. */
  readonly retention?: Retention | undefined;
}

/** Lanes whose wake-up call was lost are looked for this often, in milliseconds. */
const HEAL_INTERVAL_MS = 60_000;

/** In ms. Data past its retention is looked for at this interval. */
const SWEEP_INTERVAL_MS = 600_000;

/** Between two batches of a sweep, in milliseconds: deliveries and handlers come first. */
const SWEEP_PAUSE_MS = 20;

/** Keeps the inbox in order until `signal` aborts. `onHealed` is called when lanes can be claimed again. */
export async function keepUp(
  options: UpkeepOptions,
  onHealed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const healing = every(HEAL_INTERVAL_MS, () => heal(options, onHealed), options, signal);
  const { retention } = options;
  const sweeping =
    retention === undefined
      ? undefined
      : every(SWEEP_INTERVAL_MS, () => sweep(options, retention, signal), options, signal);
  await Promise.all([healing, sweeping]);
}

/** Does `work` every `ms` milliseconds until `signal` aborts. Failures are logged and end one time only. */
export function every(
  ms: number,
  work: () => Promise<void>,
  { clock, log }: Pick<UpkeepOptions, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const once = () =>
    work().catch((err: unknown) => log.error({ err }, "upkeep of the inbox failed"));
  return repeat(clock, ms, once, signal);
}

async function heal({ inbox, log }: UpkeepOptions, onHealed: () => void): Promise<void> {
  const lanes = await inbox.heal();
  if (lanes === 0) return;
  log.warn({ lanes }, "idle lanes had pending events; they are ready again");
  onHealed();
}

async function sweep(
  { inbox, clock }: UpkeepOptions,
  retention: Retention,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await inbox.sweep(retention))) {
    await sleep(clock, SWEEP_PAUSE_MS, signal);
  }
}
