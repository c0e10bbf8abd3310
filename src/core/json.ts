/**
 * Matches an id field whose number may exceed 2^53. Checked first because it is cheap, and few texts contain such
 * numbers.
 */
const LONG_ID = /(?:"id|Id|ID|_id)"\s*:\s*-?[0-9]{16}/;

const ID_FIELD = /^id$|(?:Id|ID|_id)$/;

/**
 * Parses JSON like `JSON.parse` but keeps every digit of an id. An integer beyond 2^53 becomes a string with its exact
 * digits if its field is named `id`, or has a name that ends in `Id`, `ID` or `_id`.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!hasLongId(text)) return value;
  try {
    return JSON.parse(text, keepDigits);
  } catch {
    // The reviver is recursive, so a deeply nested text can overflow the stack. The event is later rejected for its
    // depth.
    return value;
  }
}

/** Returns whether {@link parseJson} may keep digits that `JSON.parse` would lose. */
export function hasLongId(text: string): boolean {
  return LONG_ID.test(text);
}

/** @param context absent before Node 21 */
function keepDigits(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || !ID_FIELD.test(key)) return value;
  const source = context?.source ?? "";
  return /^-?[0-9]+$/.test(source) ? source : value;
}

export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
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
