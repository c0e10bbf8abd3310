import { describe, expect, test } from "vitest";
import { array, coerce, literal, number, object, preprocess, record, string, union } from "zod";
import { MAX_STATE_BYTES, type RunEffects } from "../faces/effects.ts";
import { Store } from "./support.ts";

const Count = object({ count: number().default(0) });

async function change(run: RunEffects, schema: Parameters<RunEffects["state"]>[1], by: object) {
  Object.assign(await run.state(undefined, schema), by);
  return await run.collect();
}

function written(key: string, value: unknown, version?: string) {
  const text = value === undefined ? undefined : JSON.stringify(value);
  return { states: [{ key, value: text, version }], timers: [], cancels: [] };
}

describe("the first state", () => {
  test.each([
    ["an object whose properties have defaults", Count, { count: 0 }],
    ["an object that is optional", Count.default({ count: 7 }), { count: 7 }],
    ["a list with a default", array(string()).default([]), []],
    ["a record", record(string(), number()), {}],
  ])("is what %s makes of nothing", async (_name, schema, first) => {
    expect(await new Store().run().state(undefined, schema)).toEqual(first);
  });

  test.each([
    ["an object that needs a property", object({ count: number() })],
    ["a number", number().default(0)],
    ["a value that is no object", literal(null)],
  ])("is not there for %s", async (_name, schema) => {
    const read = new Store().run().state(undefined, schema);
    await expect(read).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(read).rejects.toThrow(/Give each property a default/);
  });

  test("is not written unless it was changed", async () => {
    const run = new Store().run();
    await run.state(undefined, Count);
    expect(await run.collect()).toBeUndefined();
  });

  test("is written without a version when it was changed", async () => {
    expect(await change(new Store().run(), Count, { count: 1 })).toEqual(
      written("dm:c_1", { count: 1 }),
    );
  });
});

test("a nested default belongs to one run, also after one that failed", async () => {
  const cart = object({ items: array(string()) }).default({ items: [] });
  const schema = object({ cart });
  const read = async (store: Store) =>
    (await store.run().state(undefined, schema)) as { cart: { items: string[] } };
  for (const store of [new Store(), new Store(), new Store({ "dm:c_1": {} })]) {
    const state = await read(store);
    expect(state).toEqual({ cart: { items: [] } });
    state.cart.items.push("tea");
    expect(await read(store)).toEqual({ cart: { items: [] } });
  }
});

describe("a stored state", () => {
  const stored = { "dm:c_1": { count: 3 } };

  test("is the same object in the whole run, and read once", async () => {
    const store = new Store(stored);
    const run = store.run();
    const [a, b] = await Promise.all([run.state(undefined, Count), run.state("dm:c_1", Count)]);
    expect(a).toBe(b);
    expect(await run.state(undefined, Count)).toBe(a);
    expect(store.queries).toEqual([["dm:c_1"]]);
  });

  test("is written with the version that was read", async () => {
    expect(await change(new Store(stored).run(), Count, { count: 4 })).toEqual(
      written("dm:c_1", { count: 4 }, "v:dm:c_1"),
    );
  });

  test("is not written if it was only read, or changed back", async () => {
    const run = new Store(stored).run();
    Object.assign(await run.state(undefined, Count), { count: 5 });
    Object.assign(await run.state(undefined, Count), { count: 3 });
    expect(await run.collect()).toBeUndefined();
  });

  test("is not touched by a run that reads another key", async () => {
    const run = new Store(stored).run();
    Object.assign(await run.state("all", Count), { count: 1 });
    expect(await run.collect()).toEqual(written("all", { count: 1 }));
  });

  test("of an earlier schema gets the defaults, and is written when something else changes", async () => {
    const More = object({ count: number().default(0), name: string().default("x") });
    const run = new Store(stored).run();
    expect(await run.state(undefined, More)).toEqual({ count: 3, name: "x" });
    expect(await run.collect()).toBeUndefined();
    expect(await change(new Store(stored).run(), More, { count: 4 })).toEqual(
      written("dm:c_1", { count: 4, name: "x" }, "v:dm:c_1"),
    );
  });

  test("of an earlier schema is read by a schema that knows it", async () => {
    const Renamed = preprocess(
      (old) => {
        const { count, ...rest } = Object(old);
        return count === undefined ? rest : { total: count };
      },
      object({ total: number().default(0) }),
    );
    expect(await new Store(stored).run().state(undefined, Renamed)).toEqual({ total: 3 });
  });

  test("that does not fit the schema fails the run with the path, and stays as it is", async () => {
    const run = new Store({ "dm:c_1": { count: "secret words" } }).run();
    const read = run.state(undefined, Count);
    await expect(read).rejects.toMatchObject({ code: "STATE_MISMATCH" });
    await expect(read).rejects.toThrow(/"dm:c_1" does not match the schema: \$\.count: /);
    await expect(read).rejects.not.toThrow(/secret/);
    expect(await run.collect()).toBeUndefined();
  });

  test("comes as JSON keeps it, so that a schema may make a Date of it again", async () => {
    const Seen = object({ at: coerce.date().default(new Date(0)) });
    const at = new Date("2026-11-23T09:00:00Z");
    const effects = await change(new Store().run(), Seen, { at });
    expect(effects?.states[0]?.value).toBe('{"at":"2026-11-23T09:00:00.000Z"}');
    const stored = { "dm:c_1": JSON.parse(effects?.states[0]?.value ?? "") };
    expect(await new Store(stored).run().state(undefined, Seen)).toEqual({ at });
  });

  test("is checked by a schema that answers later", async () => {
    const Slow = Count.refine(async ({ count }) => count < 10);
    expect(await change(new Store(stored).run(), Slow, { count: 9 })).toEqual(
      written("dm:c_1", { count: 9 }, "v:dm:c_1"),
    );
    const tooMuch = change(new Store(stored).run(), Slow, { count: 10 });
    await expect(tooMuch).rejects.toMatchObject({ code: "STATE_INVALID" });
  });
});

describe("what cannot be stored", () => {
  const Any = object({ list: array(union([number(), string()])).default([]) }).loose();
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;

  test.each([
    [
      "a value of another type",
      { list: [1, { a: 1 }] },
      /it does not match the schema: \$\.list\[1\]/,
    ],
    ["a Map", { list: [], more: { map: new Map() } }, /\$\.more\.map is a Map/],
    ["a class instance", { more: [new (class Cart {})()] }, /\$\.more\[0\] is a Cart/],
    ["a function", { list: [], fn: () => 1 }, /\$\.fn is a function/],
    ["a bigint", { n: 1n }, /\$\.n is a bigint/],
    ["NaN", { n: Number.NaN }, /\$\.n is NaN/],
    ["a cycle", { cyclic }, /circular/i],
    [
      "too much",
      { text: "é".repeat(MAX_STATE_BYTES / 2) },
      /it has 65\d{3} bytes; the limit is 65536/,
    ],
  ])("is %s: STATE_INVALID with the path", async (_name, by, message) => {
    const run = new Store().run();
    const ended = change(run, Any, by);
    await expect(ended).rejects.toMatchObject({ code: "STATE_INVALID" });
    await expect(ended).rejects.toThrow(message);
    await expect(ended).rejects.toThrow(/^Cannot store the state "dm:c_1": /);
  });

  test("is not in any error message, because it may be user text", async () => {
    const ended = change(new Store().run(), Count, { count: "secret words" });
    await expect(ended).rejects.toThrow(/\$\.count/);
    await expect(ended).rejects.not.toThrow(/secret/);
  });
});

describe("a state that is cleared", () => {
  test("is deleted with the version that was read", async () => {
    const run = new Store({ "dm:c_1": { count: 3 } }).run();
    await run.clearState(undefined);
    expect(await run.collect()).toEqual(written("dm:c_1", undefined, "v:dm:c_1"));
  });

  test("begins anew in the same run, in another object", async () => {
    const run = new Store({ "dm:c_1": { count: 3 } }).run();
    const before = await run.state(undefined, Count);
    await run.clearState("dm:c_1");
    const after = await run.state(undefined, Count);
    expect(after).toEqual({ count: 0 });
    Object.assign(before, { count: 100 });
    Object.assign(after, { count: 1 });
    expect(await run.collect()).toEqual(written("dm:c_1", { count: 1 }, "v:dm:c_1"));
  });

  test("is still deleted if it was read again and not changed", async () => {
    const run = new Store({ "dm:c_1": { count: 3 } }).run();
    await run.clearState(undefined);
    await run.state(undefined, Count);
    expect(await run.collect()).toEqual(written("dm:c_1", undefined, "v:dm:c_1"));
  });

  test("and was never there leaves nothing to do", async () => {
    const run = new Store().run();
    await run.clearState(undefined);
    expect(await run.collect()).toBeUndefined();
  });
});

test("two schemas of one key in one run are a mistake", async () => {
  const run = new Store().run();
  await run.state("k", Count);
  const read = run.state("k", object({ count: number().default(0) }));
  await expect(read).rejects.toMatchObject({ code: "INVALID_OPTION" });
  await expect(read).rejects.toThrow(/with two schemas/);
});

test("a store that failed one read is read again by the next", async () => {
  const store = new Store({ "dm:c_1": { count: 3 } });
  const run = store.run();
  store.fails = true;
  await expect(run.state(undefined, Count)).rejects.toThrow("away");
  store.fails = false;
  expect(await run.state(undefined, Count)).toEqual({ count: 3 });
});

test("a run that asks for nothing makes no query and leaves nothing", async () => {
  const store = new Store();
  expect(await store.run().collect()).toBeUndefined();
  expect(store.queries).toEqual([]);
});
