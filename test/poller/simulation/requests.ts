import type { Life, RunRecord } from "./record.ts";
import type { Schedule } from "./schedule.ts";

export interface Requests {
  /** Number of whole hours of auditing without an event or a failure. */
  readonly quietHours: number;
  readonly quiet: number;
  /** Number of those hours that had more requests than audits. */
  readonly quietExcess: number;
  readonly pollingHours: number;
  readonly polling: number;
}

const HOUR = 3_600_000;

/** In ms. The poller rereads an event for a minute, and an audit may be in progress when the minute ends. */
const SETTLED_MS = 10 * 60_000;

export function requestsOf(record: RunRecord, schedule: Schedule): Requests {
  const sum = { quietHours: 0, quiet: 0, quietExcess: 0, pollingHours: 0, polling: 0 };
  // A rejected cursor costs one request.
  const perHour = HOUR / schedule.auditMs + 1 + (schedule.refusesTrimmed ? 1 : 0);
  for (const life of record.lives) {
    for (let from = life.from; from + HOUR <= life.to; from += HOUR) {
      const mode = modeIn(life, from, from + HOUR, schedule.delivery);
      if (mode === undefined || touches(record, from - HOUR, from + HOUR)) continue;
      const count = between(record.requestsAt, from, from + HOUR);
      if (mode === "polling") {
        sum.pollingHours += 1;
        sum.polling += count;
      } else if (isQuiet(record, life, from)) {
        sum.quietHours += 1;
        sum.quiet += count;
        if (count > perHour && !schedule.cursorAtEnd) sum.quietExcess += 1;
      }
    }
  }
  return sum;
}

function isQuiet(record: RunRecord, life: Life, from: number): boolean {
  if (from === life.from) return false;
  return !record.events.some(
    ({ committedAt }) => committedAt > from - SETTLED_MS && committedAt < from + HOUR,
  );
}

/** Returns the mode throughout a span, or `undefined` if it changed within the span. */
function modeIn(
  life: Life,
  from: number,
  to: number,
  delivery: Schedule["delivery"],
): "auditing" | "polling" | undefined {
  if (delivery === "polling") return delivery;
  if (life.switches.some(({ at }) => at >= from && at < to)) return undefined;
  return life.switches.findLast(({ at }) => at < from)?.to ?? "auditing";
}

function touches({ apiAway }: RunRecord, from: number, to: number): boolean {
  return apiAway.some((away) => away.from < to && away.to > from);
}

function between(times: readonly number[], from: number, to: number): number {
  return lowerBound(times, to) - lowerBound(times, from);
}

function lowerBound(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
