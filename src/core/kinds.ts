import { types } from "node:util";
import { MAX_WAIT_MS, tryRead } from "../errors.ts";

/** Rule for the type of an argument or an option. */
export interface Kind {
  /** Follows "must be" in a sentence. */
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  /** Whether an option of this kind must be given. */
  readonly isRequired?: boolean;
}

export function required(kind: Kind): Kind {
  return { ...kind, isRequired: true };
}

export const STRING: Kind = { expected: "a string", fits: isString };

export const BOOLEAN: Kind = {
  expected: "true or false",
  fits: (value) => typeof value === "boolean",
};

export const FUNCTION: Kind = {
  expected: "a function",
  fits: (value) => typeof value === "function",
};

export const OBJECT: Kind = { expected: "an object", fits: isObject };

export const SIGNAL: Kind = {
  expected: "an AbortSignal",
  fits: (value) => value instanceof AbortSignal,
};

export const NUMBER: Kind = {
  expected: "a number",
  fits: (value) => typeof value === "number" && !Number.isNaN(value),
};

/** Includes NaN and infinities, for a caller that tests what they cause, or that clamps them. */
export const ANY_NUMBER: Kind = {
  expected: "a number",
  fits: (value) => typeof value === "number",
};

/** Range of a number. */
interface Range {
  /** Default: 0. */
  readonly min?: number;
  /** Default: no upper bound. */
  readonly max?: number;
  readonly whole?: boolean;
  /** `max` in words, such as `365 days`. */
  readonly maxText?: string;
}

/** Default: any number from 0. */
export function numberIn({ min = 0, max = Infinity, whole = false, maxText }: Range = {}): Kind {
  const words = maxText === undefined ? "" : ` (${maxText})`;
  const least = whole ? `of at least ${min}` : `at least ${min}`;
  const range = max === Infinity ? least : `from ${min} to ${max}${words}`;
  return {
    expected: whole ? `a whole number ${range}` : range,
    fits: (value) =>
      typeof value === "number" &&
      value >= min &&
      value <= max &&
      (!whole || Number.isInteger(value)),
  };
}

const YEAR: Range = { max: MAX_WAIT_MS, maxText: "365 days" };

/** A wait in ms. */
export const WAIT: Kind = numberIn(YEAR);

/** A time limit in ms, which cannot be 0. */
export const TIME_LIMIT: Kind = numberIn({ ...YEAR, min: 1 });

export const COUNT: Kind = numberIn({ min: 1, whole: true });

/** Any value, which is checked elsewhere. */
export const ANYTHING: Kind = { expected: "anything", fits: () => true };

export const STRINGS: Kind = {
  expected: "an array of strings",
  fits: (value) => Array.isArray(value) && value.every(isString),
};

/** Key of a state, a timer or a write, or a bot's name. No invisible characters, and no lone surrogates. */
export const KEY: Kind = {
  expected: "a string of 1 to 100 characters without control characters",
  fits: (value) => isString(value) && /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u.test(value),
};

export function oneOf(values: readonly string[]): Kind {
  return {
    expected: values.map((value) => JSON.stringify(value)).join(" or "),
    fits: (value) => isString(value) && values.includes(value),
  };
}

/** @param methods names of the functions that the object must have */
function objectWith(what: string, ...methods: readonly string[]): Kind {
  return {
    expected: `${what} (an object with ${methods.join(", ")})`,
    fits: (value) => methods.every((name) => typeof Object(value)[name] === "function"),
  };
}

export const LOGGER: Kind = objectWith("a pino logger", "debug", "info", "warn", "error", "child");

export const CLOCK: Kind = objectWith("a clock", "now", "timer");

/** Describes why an argument or an option is invalid, in a sentence that begins with its name. */
export function kindProblem(
  name: string,
  value: unknown,
  { expected, fits }: Kind,
): string | undefined {
  const isFitting = tryRead(() => fits(value)) === true;
  return isFitting ? undefined : `${name} must be ${expected} (got ${describeValue(value)})`;
}

/** Maximum length of a quoted text in an error message, in characters. */
const MAX_QUOTED = 50;

/** Describes a value in an error message, and quotes a short string, such as a date that cannot be parsed. */
export function quoteValue(value: unknown): string {
  const isShort = typeof value === "string" && value.length <= MAX_QUOTED;
  return isShort ? JSON.stringify(value) : describeValue(value);
}

/** Length up to which a description of a string does not mention the length, in characters. */
const USUAL_LENGTH = 100;

/** Describes a value in an error message. Strings are not repeated, because users may have written them. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      if (value === "") return "an empty string";
      return value.length > USUAL_LENGTH ? `a string of ${value.length} characters` : "a string";
    case "bigint":
    case "symbol":
    case "function":
      return `a ${typeof value}`;
    case "object":
      return value === null ? "null" : describeObject(value);
    default:
      return String(value);
  }
}

function describeObject(value: object): string {
  if (types.isDate(value)) return Number.isNaN(timeOf(value)) ? "an invalid Date" : "a Date";
  if (types.isPromise(value)) return "a promise; await it first";
  const isArray = tryRead(() => Array.isArray(value));
  if (isArray === undefined) return "an unreadable object";
  return isArray ? "an array" : "an object";
}

/** Reads the time from the object itself, because an author's class may override the methods of `Date`. */
export function timeOf(date: Date): number {
  return Date.prototype.getTime.call(date);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Excludes dates, promises and arrays. A promise is usually a forgotten `await`. */
export function isObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !(types.isDate(value) || types.isPromise(value) || Array.isArray(value));
}
