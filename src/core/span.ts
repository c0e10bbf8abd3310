import { types } from "node:util";
import { MAX_WAIT_MS, ServiceBotError } from "../errors.ts";
import { describeValue, timeOf } from "./kinds.ts";

/**
 * A duration: milliseconds, or a string of whole numbers with the units `d`, `h`, `m`, `s` and `ms`, such as `1h30m`.
 */
export type Span = number | string;

/** A duration from now, or a point in time. */
export type When = Span | Date;

/** Units in ms, largest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

type Unit = keyof typeof UNITS;

/** Matches one number with its unit. */
const PART = /\s*(\d+)(ms|[dhms])/y;

/** In characters. Bots pass users' messages to `ctx.later`, and a longer text is no duration. */
const MAX_SPAN_LENGTH = 100;

/**
 * Parses a duration.
 *
 * @param what names the parameter in the error
 * @returns milliseconds, from 0 to 365 days
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function readSpan(span: Span, what: string): number {
  const ms = typeof span === "string" ? parseSpan(span) : span;
  if (typeof ms === "number" && ms >= 0 && ms <= MAX_WAIT_MS) return Math.ceil(ms);
  throw invalidSpan(span, what, 'milliseconds, or a string such as "10m", "1h30m" or "2d"');
}

/**
 * Parses a duration, or returns the time until a point in time. A past time counts as 0.
 *
 * @param now milliseconds since 1970, for a `Date`
 * @returns milliseconds, from 0 to 365 days
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function readWhen(when: When, now: number, what: string): number {
  if (!types.isDate(when)) return readSpan(when, what);
  const ms = Math.max(0, timeOf(when) - now);
  if (ms <= MAX_WAIT_MS) return Math.ceil(ms);
  throw invalidSpan(when, what, "a valid Date");
}

/** Accepts each unit at most once, larger units first. */
function parseSpan(text: string): number | undefined {
  const span = text.length > MAX_SPAN_LENGTH ? "" : text.trim();
  let ms: number | undefined;
  let larger = Number.POSITIVE_INFINITY;
  PART.lastIndex = 0;
  while (PART.lastIndex < span.length) {
    const part = PART.exec(span);
    if (part === null) return undefined;
    const unit = UNITS[part[2] as Unit];
    if (unit >= larger) return undefined;
    ms = (ms ?? 0) + Number(part[1]) * unit;
    larger = unit;
  }
  return ms;
}

function invalidSpan(got: unknown, what: string, expected: string): ServiceBotError {
  return new ServiceBotError(
    "INVALID_OPTION",
    `${what} must be ${expected}, from 0 to 365 days (got ${describeValue(got)}).`,
  );
}
