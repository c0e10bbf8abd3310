import { MAX_WAIT_MS, ServiceBotError } from "../errors.ts";
import type { BackoffOptions } from "./clock.ts";
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

/** A wait in milliseconds. */
export const WAIT: Range = { max: MAX_WAIT_MS, maxText: "365 days" };

/** A time limit in milliseconds, which cannot be 0. */
export const TIME_LIMIT: Range = { ...WAIT, min: 1 };

/** A count in whole numbers. */
export const COUNT: Range = { min: 1, whole: true };

/** Every name of a set of options, with the range of a number, or the table of options inside. The compiler keeps it complete. */
export type OptionTable<T> = { readonly [K in keyof T]-?: OptionRule };

type OptionRule = true | Range | { readonly options: OptionTable<object> };

/** Options of a retry policy. The factor has no upper bound, because waits end at `maxMs`. */
export const RETRY_OPTIONS: OptionTable<BackoffOptions> = { baseMs: WAIT, maxMs: WAIT, factor: {} };

/** Options of a handler that differ from its bot's, for the events of one type. */
export interface HandlerOptions {
  /** After this many failed runs the event goes to the dead letters; 1 or more. */
  readonly maxAttempts?: number;
  /** The waits between runs that fail, in milliseconds, each from 0 to 365 days. */
  readonly retry?: Partial<BackoffOptions>;
  /** How long a run may take, in milliseconds; more than 0, 365 days at most. */
  readonly timeoutMs?: number;
  /**
   * How many events of the type one instance handles at once, 1 or more. Not more than `CONCURRENCY`. Default: three
   * quarters of it if the bot handles several types, which leaves places to the others; otherwise all.
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
 * Refuses options that do not exist, and numbers out of range. A slip would show much later, when something fails at
 * night.
 *
 * @throws {ServiceBotError} INVALID_OPTION with every problem at once
 */
export function checkOptions(given: object, table: OptionTable<object>): void {
  refuseProblems(optionProblems(given, table));
}

/**
 * Describes each option that does not exist, and each number that is out of its range. The compiler finds unknown
 * options in TypeScript's literals, but neither in JavaScript nor in objects that are spread.
 *
 * @param path stands before each name, such as `retry.`
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

const USE_CHANNELS = "subscribe to a channel (docs/operate/channels.md)";

/** Options that only earlier versions took, with the remedy. */
const removed: Readonly<Record<string, string>> = {
  onRequest: USE_CHANNELS,
  onHeldBack: USE_CHANNELS,
  onBudget: USE_CHANNELS,
  onBreaker: USE_CHANNELS,
};

function unknownOption(name: string, known: readonly string[], path: string): string {
  if (Object.hasOwn(removed, name)) return `${path}${name} was removed: ${removed[name]}`;
  const near = nearestName(name, known);
  const hint = near === undefined ? "" : ` (did you mean ${path}${near}?)`;
  return `unknown option ${path}${name}${hint}`;
}

/** Describes a number out of its range, in a sentence with its name. `undefined` if it is good, or absent. */
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
    max === Number.POSITIVE_INFINITY ? `from ${min} up` : `from ${min} to ${max}${words}`;
  return `${name} must be ${kind}${range} (got ${value})`;
}

/** No control or invisible character, and no half of one. */
const KEY = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u;

/** Describes a key that cannot be used, in a sentence that begins with `what`. `undefined` if it is good, or absent. */
export function keyProblem(what: string, key: unknown): string | undefined {
  const isValid = key === undefined || (typeof key === "string" && KEY.test(key));
  return isValid
    ? undefined
    : `${what} must be a text of 1 to 100 characters without control characters`;
}

/**
 * Requires a function, such as a handler.
 *
 * @param what names the parameter, such as `on("mention")`
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function requireFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  const got = value === null ? "null" : typeof value;
  refuseProblems([`${what} needs a function (got ${got})`]);
}

/** @throws {ServiceBotError} INVALID_OPTION with every problem at once */
export function refuseProblems(problems: readonly (string | undefined)[]): void {
  const real = problems.filter((problem) => problem !== undefined);
  if (real.length > 0) throw new ServiceBotError("INVALID_OPTION", `${real.join("; ")}.`);
}
