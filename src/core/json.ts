/** Matches an integer of 16 or more digits, which may exceed 2^53. It is the value of a field. */
const LONG_INTEGER = /:(\s*)(-?[1-9][0-9]{15,})(?![0-9.eE])/;
const EVERY_LONG_INTEGER = new RegExp(LONG_INTEGER, "g");

/** Names of fields with an id, a position in a listing, or a username. */
const ID_FIELD = /^(?:id|cursor|username)$|(?:Id|ID|_id|Cursor|_cursor)$/;

/**
 * Parses JSON like `JSON.parse` but keeps every digit of an id. An integer beyond 2^53 becomes a string with its exact
 * digits if its field is named `id`, `cursor` or `username`, or has a name that ends in `Id`, `ID`, `_id`, `Cursor` or
 * `_cursor`.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseJson(text: string): unknown {
  // Quote the integers, because a reviver would take six times as long and cannot read deeply nested JSON.
  return JSON.parse(hasLongInteger(text) ? quoteLongIds(text) : text);
}

/** Returns whether {@link parseJson} may keep digits that `JSON.parse` would lose. */
export function hasLongInteger(text: string): boolean {
  return LONG_INTEGER.test(text);
}

function quoteLongIds(text: string): string {
  return text.replace(EVERY_LONG_INTEGER, (field, space: string, digits: string, at: number) => {
    const isLossy = !Number.isSafeInteger(Number(digits));
    return isLossy && ID_FIELD.test(nameBefore(text, at)) ? `:${space}"${digits}"` : field;
  });
}

/**
 * Returns the name of the field whose colon is at `colon`. If the colon is inside a text, the result is what stands
 * between two texts, which is never the name of an id.
 */
function nameBefore(text: string, colon: number): string {
  const end = text.slice(0, colon).trimEnd().length - 1;
  if (text[end] !== '"' || isEscaped(text, end)) return "";
  let start = end;
  do start = text.lastIndexOf('"', start - 1);
  while (start > 0 && isEscaped(text, start));
  const name = text.slice(start + 1, end);
  if (!name.includes("\\")) return name;
  try {
    return String(JSON.parse(`"${name}"`));
  } catch {
    return "";
  }
}

/** Returns whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") start -= 1;
  return (at - start) % 2 === 1;
}

/** Returns whether a value is an object of JSON. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the strings in a value, at any depth, in the order in which JSON would write them. */
export function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  // A stack instead of recursion, because the value may be nested deeper than the call stack allows.
  for (const left = [value]; left.length > 0; ) {
    const next = left.pop();
    if (typeof next === "string") texts.push(next);
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    for (const inner of Object.values(next).reverse()) left.push(inner);
  }
  return texts;
}

/**
 * Type of a value after `JSON.parse(JSON.stringify(value))`. A `Date` becomes a string, and an object with `toJSON`
 * becomes the result of that method. Properties that may be `undefined` become optional, and symbol keys are dropped.
 * `never` for values that JSON cannot represent, such as a `Map`, a `bigint`, or an object with a method.
 */
export type Jsonify<T> = unknown extends T
  ? T // `any` and `unknown`
  : T extends { toJSON(...args: never): infer J }
    ? Jsonify<J>
    : // biome-ignore lint/suspicious/noConfusingVoidType: a step may return nothing.
      T extends string | number | boolean | null | undefined | void
      ? T
      : T extends Lost
        ? never
        : T extends readonly unknown[]
          ? { [K in keyof T]: JsonItem<T[K]> }
          : T extends object
            ? [FunctionKeys<T>] extends [never]
              ? JsonObject<T>
              : never
            : never;

/** `undefined` in an array becomes null. */
type JsonItem<T> = undefined extends T ? Jsonify<Exclude<T, undefined>> | null : Jsonify<T>;

type JsonObject<T> = Flat<
  { [K in keyof T as undefined extends T[K] ? never : JsonKey<K>]: Jsonify<T[K]> } & {
    [K in keyof T as undefined extends T[K] ? JsonKey<K> : never]?: Jsonify<
      Exclude<T[K], undefined>
    >;
  }
>;

type JsonKey<K> = Exclude<K, symbol>;

/** Keys whose values are always functions, including a class instance's methods. */
type FunctionKeys<T> = {
  [K in JsonKey<keyof T>]-?: [T[K]] extends [never]
    ? never
    : unknown extends T[K]
      ? never
      : T[K] extends AnyFunction
        ? K
        : never;
}[JsonKey<keyof T>];

type AnyFunction = ((...args: never) => unknown) | (abstract new (...args: never) => unknown);

/** Values that JSON drops, rejects or turns into an empty object. */
type Lost =
  | bigint
  | symbol
  | AnyFunction
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | ArrayBuffer
  | ArrayBufferView
  | Promise<unknown>
  | RegExp
  | Error;

type Flat<T> = { [K in keyof T]: T[K] } & {};
