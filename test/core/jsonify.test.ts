import { describe, expectTypeOf, test } from "vitest";
import type { Jsonify } from "../faces/core.ts";

/** The type `any`, which a library may return. */
type Anything = ReturnType<typeof JSON.parse>;

describe("the type of a value after JSON", () => {
  test("of texts, numbers, booleans, null and nothing is the same", () => {
    expectTypeOf<Jsonify<string>>().toEqualTypeOf<string>();
    expectTypeOf<Jsonify<"a" | 1 | true | null>>().toEqualTypeOf<"a" | 1 | true | null>();
    expectTypeOf<Jsonify<undefined>>().toEqualTypeOf<undefined>();
    expectTypeOf<Jsonify<void>>().toEqualTypeOf<void>();
    expectTypeOf<Jsonify<string & { readonly brand: "id" }>>().toEqualTypeOf<
      string & { readonly brand: "id" }
    >();
  });

  test("of what is not known stays so", () => {
    expectTypeOf<Jsonify<unknown>>().toBeUnknown();
    expectTypeOf<Jsonify<Anything>>().toBeAny();
    expectTypeOf<Jsonify<{ a: unknown; b: Anything }>>().toEqualTypeOf<{
      a?: unknown;
      b?: Anything;
    }>();
    expectTypeOf<Jsonify<unknown[]>>().toEqualTypeOf<unknown[]>();
    expectTypeOf<Jsonify<never>>().toBeNever();
  });

  test("of what has a toJSON is what that returns", () => {
    expectTypeOf<Jsonify<Date>>().toEqualTypeOf<string>();
    expectTypeOf<Jsonify<{ at: Date | null }>>().toEqualTypeOf<{ at: string | null }>();
    expectTypeOf<Jsonify<{ toJSON(): { at: Date } }>>().toEqualTypeOf<{ at: string }>();
    expectTypeOf<Jsonify<URL>>().toEqualTypeOf<string>();
  });

  test("of an object has its properties, optional where they may be undefined", () => {
    expectTypeOf<Jsonify<{ a: 1; b?: Date; c: Date | undefined }>>().toEqualTypeOf<{
      a: 1;
      b?: string;
      c?: string;
    }>();
    expectTypeOf<Jsonify<{ readonly a: { readonly b: Date } }>>().toEqualTypeOf<{
      readonly a: { readonly b: string };
    }>();
    expectTypeOf<Jsonify<Record<string, Date>>>().toEqualTypeOf<Record<string, string>>();
  });

  test("of an interface that JSON keeps is assignable to it", () => {
    interface Order {
      readonly id: string;
      readonly note?: string;
      readonly lines: readonly { readonly price: number | null }[];
    }
    expectTypeOf<Jsonify<Order>>().toExtend<Order>();
    expectTypeOf<Jsonify<Order | undefined>>().toExtend<Order | undefined>();
  });

  test("leaves out keys that are symbols", () => {
    expectTypeOf<Jsonify<{ a: 1; [Symbol.iterator]: () => void }>>().toEqualTypeOf<{ a: 1 }>();
  });

  test("of an object with functions is never, and a function that may be absent has to be", () => {
    class Order {
      readonly id = "o_1" as string;
      total(): number {
        return 1;
      }
    }
    expectTypeOf<Jsonify<Order>>().toBeNever();
    expectTypeOf<Jsonify<{ orders: Order[] }>>().toEqualTypeOf<{ orders: never[] }>();
    expectTypeOf<Jsonify<{ a: 1; f: () => void }>>().toBeNever();
    expectTypeOf<Jsonify<{ a: 1; f: typeof Order }>>().toBeNever();
    expectTypeOf<Jsonify<{ a: 1; f?: () => void }>>().toEqualTypeOf<{ a: 1; f?: never }>();
    expectTypeOf<Jsonify<{ a: string | (() => void) }>>().toEqualTypeOf<{ a: string }>();
  });

  test("of arrays and tuples has their items, with null for undefined", () => {
    expectTypeOf<Jsonify<Date[]>>().toEqualTypeOf<string[]>();
    expectTypeOf<Jsonify<readonly Date[]>>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Jsonify<(number | undefined)[]>>().toEqualTypeOf<(number | null)[]>();
    expectTypeOf<Jsonify<[Date, number]>>().toEqualTypeOf<[string, number]>();
    expectTypeOf<Jsonify<readonly [a: Date]>>().toEqualTypeOf<readonly [a: string]>();
  });

  test("of what JSON loses is never", () => {
    expectTypeOf<Jsonify<Map<string, number>>>().toBeNever();
    expectTypeOf<Jsonify<Set<string>>>().toBeNever();
    expectTypeOf<Jsonify<bigint>>().toBeNever();
    expectTypeOf<Jsonify<symbol>>().toBeNever();
    expectTypeOf<Jsonify<() => void>>().toBeNever();
    expectTypeOf<Jsonify<Uint8Array>>().toBeNever();
    expectTypeOf<Jsonify<Buffer>>().toEqualTypeOf<{ type: "Buffer"; data: number[] }>();
    expectTypeOf<Jsonify<{ error: Error }>>().toEqualTypeOf<{ error: never }>();
  });
});
