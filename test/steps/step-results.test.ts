import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, test } from "vitest";
import { harness } from "../dispatcher/harness.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { messages } from "../support/inbox-events.ts";
import { StepWorld } from "./step-world.ts";

let world: StepWorld;

beforeEach(async () => {
  world = new StepWorld();
  await world.put();
});

class Order {
  readonly id = 1;
}

const keep = async (value: unknown) => (await world.begin()).run(world.own(() => value));

describe("the result of a step", () => {
  const shared = { a: 1 };
  test.each<[string, unknown]>([
    ["texts, numbers, booleans and null", ["", "x", 0, -1.5, 1e300, true, false, null]],
    ["objects and arrays in each other", { a: [{ b: [] }], "": {} }],
    ["a Date", { when: new Date(0) }],
    ["a Buffer, by its toJSON", Buffer.from("hi")],
    ["a URL", new URL("https://example.org/a")],
    ["a toJSON that returns another one", { toJSON: () => ({ at: new Date(5) }) }],
    ["properties without a value", { a: undefined, b: 1 }],
    ["undefined in an array", [1, undefined]],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["an object of another realm", runInNewContext("({ a: [1] })")],
    ["one object in two places", [shared, shared]],
    ["the groups of a match", /(?<year>\d+)/.exec("in 2026")?.groups],
    ["a key that looks like a prototype", JSON.parse('{"__proto__":{"a":1}}')],
    ["half a character", "\ud800"],
  ])("is what parsing its text gives: %s", async (_name, value) => {
    const kept = await keep(value);
    expect(kept).toEqual(JSON.parse(JSON.stringify(value)));
    expect(JSON.stringify(kept)).toBe(JSON.stringify(value));
  });

  test("is serialized once", async () => {
    let calls = 0;
    await keep({ a: { toJSON: () => ++calls } });
    expect(calls).toBe(1);
  });

  test.each<[string, unknown]>([
    ["a Date", new Date(5)],
    ["a Date inside", { items: [{ when: new Date(5), note: undefined }] }],
    ["an array with undefined", [undefined, 1]],
    ["nothing", undefined],
  ])("is in the first run what it is in later ones: %s", async (_name, value) => {
    const first = await (await world.begin()).run(world.own(() => value));
    const later = await (await world.begin()).run(world.own(() => "another value"));
    expect(first).toStrictEqual(later);
    expect(first).toStrictEqual(value && JSON.parse(JSON.stringify(value)));
  });

  test("is the handler's own: to change it changes nothing for later runs", async () => {
    const kept = { count: 1 };
    const first = await (await world.begin()).run(world.own(() => kept));
    first.count = 2;
    expect(kept).toEqual({ count: 1 });
    expect(await (await world.begin()).run(world.own(() => kept))).toEqual({ count: 1 });
  });
});

describe("a result that JSON would change in silence is refused, with its place", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = { back: cycle };
  let deep: unknown = null;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  test.each<[string, unknown, string]>([
    ["a Map", { items: [1, { when: new Map() }] }, "$.items[1].when is a Map"],
    ["a Set", new Set(), "$ is a Set"],
    ["a bigint", { n: 1n }, "$.n is a bigint"],
    ["a function", { f: () => 1 }, "$.f is a function"],
    ["a symbol", [Symbol("s")], "$[0] is a symbol"],
    ["NaN", { "a b": Number.NaN }, '$["a b"] is NaN'],
    ["Infinity", -Infinity, "$ is -Infinity"],
    ["an invalid Date", { d: new Date(Number.NaN) }, "$.d is an invalid Date"],
    ["a hole", new Array(2), "$[0] is a hole"],
    ["an instance of a class", [new Order()], "$[0] is a Order"],
    ["an instance of a class without a name", new (class {})(), "$ is a class instance"],
    ["an Error", { error: new Error("x") }, "$.error is a Error"],
    ["bytes", new Uint8Array(2), "$ is a Uint8Array"],
    ["a promise", { later: Promise.resolve(1) }, "$.later is a Promise"],
    ["what toJSON returns", { toJSON: () => new Map() }, "$ is a Map"],
    ["a cycle", cycle, "Converting circular structure to JSON"],
  ])("%s", async (_name, value, problem) => {
    await expect(keep(value)).rejects.toMatchObject({
      code: "STEP_RESULT_INVALID",
      message: expect.stringContaining(`result: ${problem}. `),
    });
  });

  test("more levels than a program can walk", async () => {
    await expect(keep(deep)).rejects.toMatchObject({ code: "STEP_RESULT_INVALID" });
  });
});

describe("a result that JSON cannot keep", () => {
  const value = { items: [{ when: new Map() }] };

  test("is refused at once, with its place, and the step never runs again by itself", async () => {
    let runs = 0;
    const own = () => world.own(() => (runs++ === 0 ? value : undefined));
    await expect((await world.begin()).run(own())).rejects.toMatchObject({
      code: "STEP_RESULT_INVALID",
      message: expect.stringContaining(
        '"charge" succeeded, but the bot cannot store its result: $.items[0].when is a Map',
      ),
    });
    await expect((await world.begin()).run(own())).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
    });
    expect(runs).toBe(1);
  });

  test("makes the event a dead letter in the first run, even when an operator retries it unchanged", async () => {
    let runs = 0;
    const step = world.own(() => (runs++ === 0 ? value : undefined));
    const { inbox, dispatcher } = harness(({ steps }) => steps.run(step));
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 1 }]);
    await inbox.admin.retry("1");
    await dispatcher.idle();
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 1 }]);
    expect(runs).toBe(1);
  });

  test("is settled by an operator, and the handler continues without the result", async () => {
    let runs = 0;
    const results: unknown[] = [];
    const step = world.own(() => (runs++ === 0 ? value : undefined));
    const { inbox, dispatcher } = harness(async ({ steps }) => {
      results.push((await steps.run(step)).result);
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    await inbox.admin.retry("1", { assume: "done" });
    await dispatcher.idle();
    expect(results).toEqual([undefined]);
    expect(await inbox.stats()).toMatchObject({ done: 1, dead: 0 });
    expect(runs).toBe(1);
  });

  test("of a repeatable step lets an operator retry the event", async () => {
    const kept: unknown[] = [value, "mended"];
    const step = world.own(() => kept.shift(), { repeatable: true });
    const { inbox, dispatcher } = harness(({ steps }) => steps.run(step));
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 1 }]);
    await inbox.admin.retry("1");
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ done: 1, dead: 0 });
  });
});
