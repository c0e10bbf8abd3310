import { type Clock, every as repeat, sleep, type TimerOptions } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Inbox, Retention } from "../inbox/inbox.ts";

export interface UpkeepOptions {
  readonly inbox: Pick<Inbox, "heal" | "sweep">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retention: Retention;
}

/** Interval at which to search for idle lanes with pending events, in ms. */
const HEAL_INTERVAL_MS = 60_000;

/** Interval at which to search for data past its retention, in ms. */
const SWEEP_INTERVAL_MS = 600_000;

/** Pause between two batches of a sweep, in ms, because deliveries and handlers take precedence. */
const SWEEP_PAUSE_MS = 20;

/** Maintains the inbox until `signal` aborts. `onHealed` is called when repaired lanes can be claimed. */
export async function keepUp(
  options: UpkeepOptions,
  onHealed: () => void,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([
    every(HEAL_INTERVAL_MS, () => heal(options, onHealed), options, signal, UPKEEP),
    every(SWEEP_INTERVAL_MS, () => sweep(options, signal), options, signal, UPKEEP),
  ]);
}

/** Missed intervals, such as while the machine slept, are not made up for. */
const UPKEEP: TimerOptions = { background: true };

/**
 * Runs `work` every `ms` milliseconds until `signal` aborts. A failure is logged, and the next interval runs as usual.
 */
export function every(
  ms: number,
  work: () => Promise<void>,
  { clock, log }: Pick<UpkeepOptions, "clock" | "log">,
  signal: AbortSignal,
  timer?: TimerOptions,
): Promise<void> {
  const once = () =>
    work().catch((err: unknown) =>
      log.error({ err }, "maintenance of the inbox failed; retrying later"),
    );
  return repeat(clock, ms, once, signal, timer);
}

async function heal({ inbox, log }: UpkeepOptions, onHealed: () => void): Promise<void> {
  const lanes = await inbox.heal();
  if (lanes === 0) return;
  log.warn({ lanes }, "restarted lanes that were idle although they had pending events");
  onHealed();
}

async function sweep(
  { inbox, clock, retention }: UpkeepOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await inbox.sweep(retention))) {
    await sleep(clock, SWEEP_PAUSE_MS, signal);
  }
}
