import type { InboxFilter } from "../../inbox/admin.ts";
import { type EventState, sources } from "../../inbox/event-records.ts";
import { type Flags, oneOf, UsageError } from "../command.ts";
import { quoted } from "../output.ts";

export const filterFlags = {
  type: { type: "string" },
  lane: { type: "string" },
  source: { type: "string" },
  error: { type: "string" },
  code: { type: "string" },
  since: { type: "string" },
  until: { type: "string" },
  "received-since": { type: "string" },
  "received-until": { type: "string" },
  user: { type: "string" },
} as const;

export const timeFlags = { json: { type: "boolean" }, utc: { type: "boolean" } } as const;

export const FILTER: string =
  "[--type TYPE] [--lane LANE] [--source webhook|poll] [--user NAME|ID] [--error TEXT] [--code CODE] " +
  "[--since WHEN] [--until WHEN] [--received-since WHEN] [--received-until WHEN]";

export function filterIn(flags: Flags<typeof filterFlags>, now: number = Date.now()): InboxFilter {
  const { type, lane, user, error, code } = flags;
  if (user?.trim() === "" || user === "@")
    throw new UsageError("--user takes a username or an id.");
  const [since, until] = periodIn("since", "until", flags, now);
  const [receivedSince, receivedUntil] = periodIn("received-since", "received-until", flags, now);
  const source = oneOf(flags.source, "source", sources);
  const times = { since, until, receivedSince, receivedUntil };
  return { type, lane, source, user, error, code, ...times };
}

type TimeFlag = "since" | "until" | "received-since" | "received-until";

/** @throws {UsageError} if the period is empty */
function periodIn(
  start: TimeFlag,
  end: TimeFlag,
  flags: Flags<typeof filterFlags>,
  now: number,
): readonly [start: number | undefined, end: number | undefined] {
  const from = readTime(start, flags[start], now);
  const to = readTime(end, flags[end], now);
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError(
      `--${start} ${flags[start]} is not before --${end} ${flags[end]}. Example: --${start} 3h --${end} 2h.`,
    );
  }
  return [from, to];
}

export function isChosen(filter: InboxFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** Formats a filter as flags. Converts ages to times, because an age would select other events on the next page. */
export function filterArguments(filter: InboxFilter): string {
  const { since, until, receivedSince, receivedUntil, ...texts } = filter;
  const times = {
    since: iso(since),
    until: iso(until),
    "received-since": iso(receivedSince),
    "received-until": iso(receivedUntil),
  };
  return Object.entries({ ...texts, ...times })
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${quoted(String(value))}`))
    .join("");
}

export function nameOf(state: EventState, n: number): string {
  const noun = state === "dead" ? "dead letter" : `${state} event`;
  return n === 1 ? noun : `${noun}s`;
}

const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Parses an age, such as `2h`, or an ISO 8601 time. The default time zone is UTC. */
function readTime(name: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const [, n, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (n !== undefined) return Math.max(0, now - Number(n) * (UNITS[unit] ?? 0));
  const [time, zone] = TIME.exec(text) ?? [];
  // `Date.parse` treats a date without a time as UTC.
  const zoned = zone === undefined && text.length > 10 ? `${text}Z` : text;
  const at = time === undefined ? Number.NaN : Date.parse(zoned);
  if (at >= 0) return at;
  throw new UsageError(
    `--${name} takes an age (90s, 30m, 2h, 7d) or a time (2026-11-20, 2026-11-20T16:02Z) (got "${text}").`,
  );
}
