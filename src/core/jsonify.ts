/**
 * The type of a value after `JSON.parse(JSON.stringify(value))`: a `Date` is a string, and what has a `toJSON` is what that
 * returns. Properties that may be `undefined` are optional, and those whose key is a symbol are left out. `never` for
 * a value that JSON cannot keep, such as a `Map`, a `bigint`, or an object with a method.
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

/** JSON has no `undefined` in arrays. */
type JsonItem<T> = undefined extends T ? Jsonify<Exclude<T, undefined>> | null : Jsonify<T>;

type JsonObject<T> = Flat<
  { [K in keyof T as undefined extends T[K] ? never : Kept<K>]: Jsonify<T[K]> } & {
    [K in keyof T as undefined extends T[K] ? Kept<K> : never]?: Jsonify<Exclude<T[K], undefined>>;
  }
>;

type Kept<K> = Exclude<K, symbol>;

/** Keys of the members that are functions in any case. The members of a class instance include its methods. */
type FunctionKeys<T> = {
  [K in Kept<keyof T>]-?: [T[K]] extends [never]
    ? never
    : unknown extends T[K]
      ? never
      : T[K] extends AnyFunction
        ? K
        : never;
}[Kept<keyof T>];

type AnyFunction = ((...args: never) => unknown) | (abstract new (...args: never) => unknown);

/** Values that JSON drops, refuses, or turns into an empty object. */
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
