import { PlatformError } from "../../src/platform/index.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { unreadable } from "./unreadable.ts";

/** Kind of a value, finer than `typeof`. */
export type ValueKind =
  | "null"
  | "bigint"
  | "symbol"
  | "boolean"
  | "number"
  | "string"
  | "function"
  | "array"
  | "date"
  | "promise"
  | "object"
  | "unreadable";

type Values = readonly (readonly [ValueKind, label: string, make: () => unknown])[];

function cyclic(): object {
  const around: { self?: object } = {};
  around.self = around;
  return around;
}

const wrongValues: Values = [
  ["null", "null", () => null],
  ["bigint", "a bigint", () => 10n],
  ["symbol", "a symbol", () => Symbol("s")],
  ["boolean", "true", () => true],
  ["number", "NaN", () => Number.NaN],
  ["number", "Infinity", () => Number.POSITIVE_INFINITY],
  ["number", "-1", () => -1],
  ["number", "0.5", () => 0.5],
  ["string", "an empty string", () => ""],
  ["string", "a string", () => "x"],
  ["string", "a string with a lone surrogate", () => "\ud800"],
  ["string", "a long string", () => "x".repeat(200_000)],
  ["function", "a function", () => () => undefined],
  ["array", "an empty array", () => []],
  ["array", "an array", () => [10n]],
  ["date", "an invalid Date", () => new Date(Number.NaN)],
  ["date", "a Date", () => new Date(0)],
  ["promise", "a promise", () => Promise.resolve({})],
  ["object", "an object", () => ({ unknown: 1 })],
  ["object", "a cyclic object", cyclic],
  ["object", "an object without a prototype", () => Object.create(null)],
  ...["a revoked proxy", "a proxy whose traps all throw"].map((label) => {
    return ["unreadable", label, unreadable[label] ?? (() => undefined)] as const;
  }),
  [
    "object",
    "an object whose conversions throw",
    () => unreadable["an object whose conversions throw"]?.(),
  ],
  ["object", "an object whose field throws", () => unreadable["an object whose field throws"]?.()],
];

/** An argument of a public method. */
export interface Argument {
  /** The argument's name in error messages. Empty if the call accepts every value. */
  readonly name: string;
  /** The argument that contains the value, if `name` is one of its fields. Its name in the message is enough. */
  readonly within?: string;
  /** Kinds of values that the call may accept. It refuses all others. */
  readonly accepts: readonly ValueKind[];
  /** Calls the method with the value, and with valid values for the other arguments. */
  readonly call: (value: never) => unknown;
}

/**
 * Calls a method with every wrong value. Returns what it got wrong: the value and the outcome. A call must throw an
 * error with a code. For a value that it does not accept, the message must contain the argument's name.
 */
export async function mistakesOf({
  name,
  within = name,
  accepts,
  call,
}: Argument): Promise<string[]> {
  const mistakes: string[] = [];
  for (const [kind, label, make] of wrongValues) {
    const mayPass = accepts.includes(kind);
    // Every message contains the empty name.
    const names = mayPass ? [""] : [name, within];
    const mistake = await mistakeOf(() => call(make() as never), names);
    if (mistake !== undefined) mistakes.push(`${label}: ${mistake}`);
  }
  return mistakes;
}

async function mistakeOf(
  call: () => unknown,
  names: readonly string[],
): Promise<string | undefined> {
  try {
    await call();
    return names.includes("") ? undefined : "accepted";
  } catch (error) {
    if (!(error instanceof ServiceBotError || error instanceof PlatformError)) {
      return `raw ${error instanceof Error ? error.stack : typeof error}`;
    }
    const { message } = error;
    if (message.length > 2_000) return `a message of ${message.length} characters`;
    return names.some((name) => message.includes(name)) ? undefined : message;
  }
}

/** Kinds of values that each option may accept. */
export type Accepted = Readonly<Record<string, readonly ValueKind[]>>;

/** Calls a method with every option set to every wrong value. */
export function optionsOf(accepts: Accepted, call: (options: never) => unknown): Argument[] {
  return Object.entries(accepts).map(([name, kinds]) => ({
    name,
    accepts: kinds,
    call: (value: never) => call({ [name]: value } as never),
  }));
}

/** Returns the names of a class's methods, without its getters. */
export function methodsOf(prototype: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => name);
}
