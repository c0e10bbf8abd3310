import type { EventState, InboxFilter } from "../../inbox/admin.ts";
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
} as const;

export const FILTER =
  "[--type TYPE] [--lane LANE] [--source webhook|poll] [--error TEXT] [--code CODE] [--since WHEN] [--until WHEN]";

export function filterIn(flags: Flags<typeof filterFlags>, now: number = Date.now()): InboxFilter {
  const { type, lane, error, code } = flags;
  const since = readTime("since", flags.since, now);
  const until = readTime("until", flags.until, now);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new UsageError(
      `--since ${flags.since} is not before --until ${flags.until}. Example: --since 3h --until 2h.`,
    );
  }
  const source = oneOf(flags.source, "source", ["webhook", "poll"]);
  return { type, lane, source, error, code, since, until };
}

export function isChosen(filter: InboxFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** Formats a filter as flags. Converts ages to times, because an age would select other events on the next page. */
export function filterArguments({ since, until, ...texts }: InboxFilter): string {
  const times = { since: since && iso(since), until: until && iso(until) };
  return Object.entries({ ...texts, ...times })
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${quoted(String(value))}`))
    .join("");
}

export function nameOf(state: EventState, n: number): string {
  const noun = state === "dead" ? "dead letter" : `${state} event`;
  return n === 1 ? noun : `${noun}s`;
}

const iso = (at: number) => new Date(at).toISOString();

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
