import { MAX_WAIT_MS, ServiceBotError } from "../errors.ts";
import type { BackoffOptions } from "./clock.ts";
import { pageUrl } from "./manifest.ts";
import { nearestName } from "./names.ts";

/** Range of a number. A missing `max` means no upper bound. */
export interface Range {
  /** Default: 0. */
  readonly min?: number;
  readonly max?: number;
  readonly whole?: boolean;
  /** `max` in words, such as `365 days`. */
  readonly maxText?: string;
}

/** A wait in ms. */
export const WAIT: Range = { max: MAX_WAIT_MS, maxText: "365 days" };

/** A time limit in ms, which cannot be 0. */
export const TIME_LIMIT: Range = { ...WAIT, min: 1 };

export const COUNT: Range = { min: 1, whole: true };

/**
 * A rule for every name in an options type: a number's range, or the table for nested options. The compiler keeps the
 * table complete.
 */
export type OptionTable<T> = { readonly [K in keyof T]-?: OptionRule };

type OptionRule = true | Range | { readonly options: OptionTable<object> };

/** Options for a retry policy. `factor` has no upper bound, because `maxMs` caps every wait. */
export const RETRY_OPTIONS: OptionTable<BackoffOptions> = { baseMs: WAIT, maxMs: WAIT, factor: {} };

/** Options for a handler. They override the bot's options for events of one type. */
export interface HandlerOptions {
  /** Number of failed runs before the event becomes a dead letter, at least 1. */
  readonly maxAttempts?: number;
  /** Waits between failed runs, in ms, from 0 to 365 days each. */
  readonly retry?: Partial<BackoffOptions>;
  /** Time limit for a run, in ms, at least 1 and at most 365 days. */
  readonly timeoutMs?: number;
  /**
   * Number of events of this type that one instance handles at once, from 1 to `CONCURRENCY`. If the bot handles
   * several types, the default is three quarters of `CONCURRENCY`, so that other types keep some capacity. Otherwise it
   * is all of `CONCURRENCY`.
   */
  readonly concurrency?: number;
}

export const HANDLER_OPTIONS: OptionTable<HandlerOptions> = {
  maxAttempts: COUNT,
  retry: { options: RETRY_OPTIONS },
  timeoutMs: TIME_LIMIT,
  concurrency: COUNT,
};

/**
 * Rejects unknown options and numbers out of range at startup. Otherwise a mistake would become visible only when
 * something fails.
 *
 * @throws {ServiceBotError} INVALID_OPTION, listing every problem at once
 */
export function checkOptions(given: object, table: OptionTable<object>): void {
  refuseProblems(optionProblems(given, table));
}

/**
 * Returns a problem for each unknown option and each number out of range. TypeScript reports unknown options only in
 * object literals, not in spread objects, and JavaScript reports none.
 *
 * @param path prefix of each name, such as `retry.`
 */
export function optionProblems(
  given: object,
  table: OptionTable<object>,
  path = "",
): (string | undefined)[] {
  const values: Readonly<Record<string, unknown>> = { ...given };
  const rules: [string, OptionRule][] = Object.entries(table);
  const known = Object.keys(table);
  return [
    ...Object.keys(given)
      .filter((name) => !Object.hasOwn(table, name))
      .map((name) => unknownOption(name, known, path)),
    ...rules.flatMap(([name, rule]) => {
      if (rule === true) return [];
      if (!("options" in rule)) return [outOfRange(path + name, values[name], rule)];
      return optionProblems(Object(values[name] || {}), rule.options, `${path}${name}.`);
    }),
  ];
}

/** Options from earlier versions, which channels replace. */
const removed: readonly string[] = ["onRequest", "onHeldBack", "onBudget", "onBreaker"];

function unknownOption(name: string, known: readonly string[], path: string): string {
  if (removed.includes(name)) {
    return `${path}${name} was removed: subscribe to a channel (${pageUrl("operate/channels")})`;
  }
  const near = nearestName(name, known);
  const hint = near === undefined ? "" : ` (did you mean ${path}${near}?)`;
  return `unknown option ${path}${name}${hint}`;
}

/**
 * Returns a problem that begins with `name` if a number is out of range. Returns `undefined` if the number is valid or
 * absent.
 */
export function outOfRange(
  name: string,
  value: unknown,
  { min = 0, max = Number.POSITIVE_INFINITY, whole = false, maxText }: Range,
): string | undefined {
  if (value === undefined) return undefined;
  const isInRange = typeof value === "number" && value >= min && value <= max;
  if (isInRange && (!whole || Number.isInteger(value))) return undefined;
  const kind = whole ? "a whole number " : "";
  const words = maxText === undefined ? "" : ` (${maxText})`;
  const range =
    max === Number.POSITIVE_INFINITY
      ? `${whole ? "of " : ""}at least ${min}`
      : `from ${min} to ${max}${words}`;
  return `${name} must be ${kind}${range} (got ${value})`;
}

/** No control or invisible characters, and no lone surrogates. */
const KEY = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u;

/**
 * Describes why a key is invalid, in a sentence that begins with `what`. Returns `undefined` if the key is valid or
 * absent.
 */
export function keyProblem(what: string, key: unknown): string | undefined {
  const isValid = key === undefined || (typeof key === "string" && KEY.test(key));
  return isValid
    ? undefined
    : `${what} must be a string of 1 to 100 characters without control characters`;
}

/**
 * @param what names the parameter, such as `on("mention")`
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function requireFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  const got = value === null ? "null" : typeof value;
  refuseProblems([`${what} needs a function (got ${got})`]);
}

/** @throws {ServiceBotError} INVALID_OPTION, listing every problem at once */
export function refuseProblems(problems: readonly (string | undefined)[]): void {
  const real = problems.filter((problem) => problem !== undefined);
  if (real.length > 0) throw new ServiceBotError("INVALID_OPTION", `${real.join("; ")}.`);
}
