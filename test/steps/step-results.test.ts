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

describe("the result of a step", () => {
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

describe("a result that JSON cannot keep", () => {
  const value = { items: [{ when: new Map() }] };

  test("is refused at once, with its place, and the step never runs again by itself", async () => {
    let runs = 0;
    const own = () => world.own(() => (runs++ === 0 ? value : undefined));
    await expect((await world.begin()).run(own())).rejects.toMatchObject({
      code: "STEP_RESULT_INVALID",
      message: expect.stringContaining(
        '"charge" ran, but its result cannot be recorded: $.items[0].when is a Map',
      ),
    });
    await expect((await world.begin()).run(own())).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
    });
    expect(runs).toBe(1);
  });

  test("makes a dead letter of the first run, also when a person retries it as it is", async () => {
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

  test("is settled by a person: the handler goes on without the result", async () => {
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

  test("of a step that may be repeated lets a person retry the event", async () => {
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
