import { Random } from "../../faults/random.ts";

export type IdScheme = "counter" | "huge" | "text";
export type Scopes = "read" | "dm" | "both";

/** An outage: its kind, start and duration. Times are in ms from the start of the simulation. */
export interface Outage {
  /**
   * - `proxy`: a proxy responds with 502 and drops the delivery.
   * - `answers`: a proxy forwards the delivery but responds with 502.
   * - `deleted`: the webhook is deleted.
   * - `bot`: the bot is not running.
   * - `401`, `429`, `503`: the API responds with this status.
   * - `network`: the API is unreachable.
   */
  readonly kind: "proxy" | "answers" | "deleted" | "bot" | "401" | "429" | "503" | "network";
  readonly at: number;
  readonly ms: number;
}

export interface Schedule {
  readonly seed: number;
  readonly lengthMs: number;
  readonly outages: readonly Outage[];
  readonly traffic: "none" | "sparse" | "steady" | "bursts";
  readonly scopes: Scopes;
  readonly ids: IdScheme;
  readonly startFrom: "now" | "oldest";
  readonly before: number;
  readonly clockOffMs: number;
  /** Fraction of rows that commit up to a minute late. */
  readonly late: number;
  readonly cursorAtEnd: boolean;
  readonly subset: boolean;
  /** When the subscription loses a type, or `undefined` if never. */
  readonly narrowedAt: number | undefined;
  /** Age up to which events survive a trim, in ms. */
  readonly keepMs: number;
  readonly auditMs: number;
  readonly pollMs: number;
  readonly disableAfter: number;
  readonly keepsBacklog: boolean;
  readonly batch: number;
  readonly drainMs: number;
  readonly delivery: "auto" | "polling";
  /** True if the log rejects a trimmed position instead of continuing after it. */
  readonly refusesTrimmed: boolean;
  /** Fraction of events whose date is missing, invalid or in the future. */
  readonly badDates: number;
  /** Request budget that the poller shares with handlers, or `undefined` if unlimited. */
  readonly perMinute: number | undefined;
}

/** Longest time the webhook takes to deliver an event, in ms. */
export const SILENCE_MS = 45_000;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function drawSchedule(seed: number): Schedule {
  const random = new Random(seed);
  const lengthMs = drawLength(random);
  const traffic = random.pick(["none", "sparse", "steady", "steady", "bursts"] as const);
  return {
    seed,
    lengthMs,
    traffic,
    outages: drawOutages(random, lengthMs),
    scopes: random.pick(["both", "both", "read", "dm"]),
    ids: random.pick(["counter", "huge", "text"]),
    startFrom: random.pick(["now", "now", "oldest"]),
    before: random.pick([0, 0, 3, 120]),
    clockOffMs: random.pick([0, 1, -1]) * random.below(6 * HOUR),
    late: random.pick([0, 0.02, 0.3]),
    cursorAtEnd: random.chance(0.15),
    subset: random.chance(0.3),
    narrowedAt: random.chance(0.1) ? random.below(lengthMs) : undefined,
    keepMs: random.pick([2 * HOUR, 12 * HOUR, 30 * DAY]),
    auditMs: random.pick([MINUTE, MINUTE, 5 * MINUTE]),
    pollMs: random.pick([3_000, 4_000, 10_000]),
    disableAfter: random.pick([3, 10, 50]),
    keepsBacklog: random.chance(0.5),
    batch: random.pick([5, 50]),
    drainMs: random.pick([100, 5_000, 30_000]),
    delivery: random.chance(0.1) ? "polling" : "auto",
    refusesTrimmed: random.chance(0.3),
    badDates: random.pick([0, 0, 0.02]),
    perMinute: random.chance(0.3) ? random.pick([10, 30, 100]) : undefined,
  };
}

function drawLength(random: Random): number {
  const of = random.next();
  if (of < 0.6) return (2 + random.below(8)) * HOUR;
  if (of < 0.95) return (10 + random.below(50)) * HOUR;
  return (4 + random.below(10)) * DAY;
}

function drawOutages(random: Random, lengthMs: number): Outage[] {
  const kinds = [
    "proxy",
    "proxy",
    "answers",
    "deleted",
    "bot",
    "401",
    "429",
    "503",
    "network",
  ] as const;
  return Array.from({ length: random.below(7) }, () => ({
    kind: random.pick(kinds),
    at: random.below(lengthMs),
    ms: drawSpan(random, Math.min(2 * DAY, lengthMs / 3)),
  })).sort((a, b) => a.at - b.at);
}

/** Draws a duration from seconds to days. Every order of magnitude is equally likely. */
function drawSpan(random: Random, longest: number): number {
  return Math.floor(2_000 * (longest / 2_000) ** random.next());
}
