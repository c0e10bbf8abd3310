import { MAX_WAIT_MS, ServiceBotError } from "../errors.ts";
import type { BackoffOptions } from "./backoff.ts";
import { nearestName } from "./names.ts";

/** Range of a number. Absent bounds are open. */
export interface Range {
  /** 0 by default. */
  readonly min?: number;
  readonly max?: number;
  readonly whole?: boolean;
  /** `max` in words, such as `365 days`. */
  readonly maxText?: string;
}

/** A wait or a time limit, in milliseconds. */
export const WAIT: Range = { max: MAX_WAIT_MS, maxText: "365 days" };

/** A time limit, which cannot be 0, in milliseconds. */
export const TIME_LIMIT: Range = { ...WAIT, min: 1 };

/** Returns the problem of an option, in a sentence with its name and range. `undefined` if it is good. */
export function outOfRange(
  name: string,
  value: unknown,
  { min = 0, max = Number.POSITIVE_INFINITY, whole = false, maxText }: Range,
): string | undefined {
  if (value === undefined) return undefined;
  const isInRange = typeof value === "number" && value >= min && value <= max;
  if (isInRange && (!whole || Number.isInteger(value))) return undefined;
  const kind = whole ? "a whole number " : "";
  const words = maxText === undefined ? "" : `, which is ${maxText}`;
  const range =
    max === Number.POSITIVE_INFINITY ? `from ${min} up` : `from ${min} to ${max}${words}`;
  return `${name} must be ${kind}${range} (got ${value})`;
}

/** Every name of a set of options, with the range of a number. The compiler keeps it complete. */
export type OptionTable<T> = { readonly [K in keyof T]-?: true | Range };

/**
 * Names each option that does not exist, and each number that is out of its range.
 *
 * @param path stands before each name, such as `retry.`
 */
export function optionProblems(
  given: object,
  table: OptionTable<object>,
  path = "",
): (string | undefined)[] {
  const values: Readonly<Record<string, unknown>> = { ...given };
  const ranges: [string, true | Range][] = Object.entries(table);
  return [
    ...unknownOptions(given, table, path),
    ...ranges.map(([name, range]) =>
      range === true ? undefined : outOfRange(path + name, values[name], range),
    ),
  ];
}

/** The factor is no time, and the waits that grow by it end at `maxMs`. */
const RETRY_OPTIONS: OptionTable<BackoffOptions> = { baseMs: WAIT, maxMs: WAIT, factor: {} };

/** Names the problems of a retry policy. */
export function retryProblems(retry: Partial<BackoffOptions> = {}): (string | undefined)[] {
  return optionProblems(retry, RETRY_OPTIONS, "retry.");
}

/** Every name of a set of options. The compiler keeps it complete. */
export type OptionNames<T> = { readonly [K in keyof T]-?: true };

/**
 * Names each option that does not exist, with the one that it nearly is. The compiler finds these in TypeScript's
 * literals, but neither in JavaScript nor in objects that are spread.
 *
 * @param path what stands before each name, such as `retry.`
 */
export function unknownOptions(given: object, names: OptionTable<object>, path = ""): string[] {
  const known = Object.keys(names);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(names, name))
    .map((name) => {
      const near = nearestName(name, known);
      const hint = near === undefined ? "" : ` (did you mean ${path}${near}?)`;
      return `${path}${name} is not an option${hint}`;
    });
}

/**
 * Requires what a handler is.
 *
 * @param what names the parameter, such as `on("mention")`
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function requireFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  const got = value === null ? "null" : typeof value;
  refuseProblems([`${what} needs a function (got ${got})`]);
}

/**
 * A slip in an option would show much later, when something fails at night.
 *
 * @throws {ServiceBotError} INVALID_OPTION with every problem at once
 */
export function refuseProblems(problems: readonly (string | undefined)[]): void {
  const real = problems.filter((problem) => problem !== undefined);
  if (real.length > 0) throw new ServiceBotError("INVALID_OPTION", `${real.join("; ")}.`);
}
