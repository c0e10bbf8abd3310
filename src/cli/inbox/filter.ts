import { printable } from "../../core/terminal.ts";
import type { InboxFilter } from "../../inbox/admin.ts";
import { quoted } from "../text.ts";
import { type Arguments, textFlag, UsageError } from "../usage.ts";

/** These choose events for every action that takes several. */
export const filterFlags = {
  type: { type: "string" },
  lane: { type: "string" },
  source: { type: "string" },
  error: { type: "string" },
  code: { type: "string" },
  since: { type: "string" },
  until: { type: "string" },
} as const;

/** As a usage line names them. */
export const FILTER =
  "[--type TYPE] [--lane LANE] [--source webhook|poll] [--error TEXT] [--code CODE] [--since WHEN] [--until WHEN]";

/** @throws {UsageError} */
export function filterIn(given: Arguments, now: number = Date.now()): InboxFilter {
  const since = timeFlag(given, "since", now);
  const until = timeFlag(given, "until", now);
  if (since !== undefined && until !== undefined && since >= until) {
    const words = `--since ${textFlag(given, "since")} --until ${textFlag(given, "until")}`;
    throw new UsageError(
      `${words} leaves no time in between: --since takes the earlier one, as in --since 3h --until 2h.`,
    );
  }
  return {
    type: textFlag(given, "type"),
    lane: textFlag(given, "lane"),
    source: oneOf(given, "source", ["webhook", "poll"]),
    error: textFlag(given, "error"),
    code: textFlag(given, "code"),
    since,
    until,
  };
}

/** Whether any of the flags is there. */
export function isChosen(filter: InboxFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** @throws {UsageError} */
export function oneOf<const T extends string>(
  given: Arguments,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = textFlag(given, name);
  const value = values.find((known) => known === text);
  if (text !== undefined && value === undefined) {
    throw new UsageError(`--${name} takes ${values.join(" or ")} (got "${text}").`);
  }
  return value;
}

/** " of type mention in lane dm:c_1"; empty where everything is meant. */
export function filterWords(filter: InboxFilter): string {
  const { type, lane, source, error, code, since, until } = filter;
  const words = [
    type === undefined ? "" : `of type ${printable(type)}`,
    lane === undefined ? "" : `in lane ${printable(lane)}`,
    source === undefined ? "" : `by ${source}`,
    error === undefined ? "" : `with "${printable(error)}" in their error`,
    code === undefined ? "" : `with the code ${printable(code)}`,
    since === undefined ? "" : `since ${iso(since)}`,
    until === undefined ? "" : `until ${iso(until)}`,
  ];
  return words
    .filter(Boolean)
    .map((word) => ` ${word}`)
    .join("");
}

/** The flags again, for the command of the next page: a span would mean another time by then. */
export function filterArguments({ since, until, ...texts }: InboxFilter): string {
  const times = { since: since && iso(since), until: until && iso(until) };
  return Object.entries({ ...texts, ...times })
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${quoted(String(value))}`))
    .join("");
}

const iso = (at: number) => new Date(at).toISOString();

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A span that has passed until now, such as `2h`, or a time as ISO 8601 has it; without a zone it is in UTC. */
function timeFlag(given: Arguments, name: string, now: number): number | undefined {
  const text = textFlag(given, name);
  if (text === undefined) return undefined;
  const [, n = "", unit = "s"] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (n !== "") return Math.max(0, now - Number(n) * UNITS[unit as keyof typeof UNITS]);
  const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(
    text,
  );
  const at = iso === null ? Number.NaN : Date.parse(iso[1] === undefined ? zoned(text) : text);
  if (Number.isFinite(at) && at >= 0) return at;
  throw new UsageError(
    `--${name} takes how long ago (90s, 30m, 2h, 7d) or a time (2026-11-20, 2026-11-20T16:02Z); got "${text}".`,
  );
}

/** A day alone begins in UTC by itself. */
function zoned(text: string): string {
  return text.length > 10 ? `${text}Z` : text;
}
