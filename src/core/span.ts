import { types } from "node:util";
import { MAX_WAIT_MS, ServiceBotError } from "../errors.ts";
import { quoteValue, timeOf } from "./kinds.ts";

/**
 * A duration: milliseconds, or a string of whole numbers with the units `d`, `h`, `m`, `s` and `ms`, such as `1h30m`.
 */
export type Span = number | string;

/** A duration from now, or a point in time. */
export type When = Span | Date;

/** Units in ms, largest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** Matches each unit at most once, larger units first. */
const SPAN = /^(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m(?!s))?\s*(?:(\d+)s)?\s*(?:(\d+)ms)?$/;

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
  throw refusal(span, what, 'milliseconds, or a string such as "10m", "1h30m" or "2d"');
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
  throw refusal(when, what, "a valid Date");
}

function parseSpan(text: string): number | undefined {
  const parts = SPAN.exec(text.trim())?.slice(1);
  if (parts === undefined || parts.every((part) => part === undefined)) return undefined;
  return Object.values(UNITS).reduce((ms, unit, index) => ms + unit * Number(parts[index] ?? 0), 0);
}

function refusal(got: unknown, what: string, expected: string): ServiceBotError {
  return new ServiceBotError(
    "INVALID_OPTION",
    `${what} must be ${expected}, from 0 to 365 days (got ${quoteValue(got)}).`,
  );
}
