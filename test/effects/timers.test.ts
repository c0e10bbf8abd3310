import { describe, expect, test } from "vitest";
import type { Effects, NewTimer } from "../faces/inbox.ts";
import { NOW, Store } from "./support.ts";

function dataOf({ body }: NewTimer): unknown {
  return JSON.parse(body).data;
}

async function collected(run: ReturnType<Store["run"]>): Promise<Effects> {
  return (await run.collect()) ?? { states: [], timers: [], cancels: [] };
}

describe("a timer", () => {
  test("is in the lane of its event, with its data, and becomes an event with an id of its own", async () => {
    const run = new Store().run();
    expect(run.later("remind", "10m", { text: "tea" }, "k")).toBe("k");
    const { timers, cancels } = await collected(run);
    expect(timers).toMatchObject([{ lane: "dm:c_1", name: "remind", key: "k", delayMs: 600_000 }]);
    expect(timers[0]?.eventId).toMatch(/^timer:remind:[0-9a-f-]{36}$/);
    expect(JSON.parse(timers[0]?.body ?? "")).toMatchObject({
      conversationId: "c_1",
      data: { text: "tea" },
      setBy: { id: "evt_1" },
    });
    expect(cancels).toEqual([]);
  });

  test("without a key is numbered in the order of the calls, so that a later run replaces it", async () => {
    for (const run of [new Store().run(), new Store().run()]) {
      expect(run.later("remind", 1, undefined, undefined)).toBe("evt_1/1");
      expect(run.later("remind", 1, undefined, "own")).toBe("own");
      expect(run.later("other", 1, undefined, undefined)).toBe("evt_1/2");
    }
  });

  test("replaces one of the same name and key in the same run", async () => {
    const run = new Store().run();
    run.later("remind", "10m", 1, "k");
    run.later("other", "10m", 2, "k");
    run.later("remind", "20m", 3, "k");
    const { timers } = await collected(run);
    expect(timers.map((timer) => [timer.name, timer.delayMs, dataOf(timer)])).toEqual([
      ["remind", 1_200_000, 3],
      ["other", 600_000, 2],
    ]);
  });

  test("at a Date is measured when the run ends, and a span is not", async () => {
    const store = new Store();
    const run = store.run();
    run.later("remind", new Date(NOW + 60_000), 1, "a");
    run.later("remind", new Date(NOW + 1_000), 2, "b");
    run.later("remind", 60_000, 3, "c");
    store.now += 5_000;
    const { timers } = await collected(run);
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([55_000, 0, 60_000]);
  });

  test("has its Date as it was at the call", async () => {
    const run = new Store().run();
    const when = new Date(NOW + 60_000);
    run.later("remind", when, 1, "k");
    when.setTime(NOW);
    expect((await collected(run)).timers.map(({ delayMs }) => delayMs)).toEqual([60_000]);
  });

  test("has its data as they were at the call", async () => {
    const run = new Store().run();
    const data = { list: [1] };
    run.later("remind", 1, data, "k");
    data.list.push(2);
    expect((await collected(run)).timers.map(dataOf)).toEqual([{ list: [1] }]);
  });

  test.each([
    ["a Map", new Map(), /\$ is a Map/],
    ["a function inside", { a: [() => 1] }, /\$\.a\[0\] is a function/],
    ["more than 64 KiB", "x".repeat(65_535), /it has 65537 bytes; the limit is 65536/],
  ])("cannot have %s", (_name, data, message) => {
    const set = () => new Store().run().later("remind", 1, data, undefined);
    expect(set).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(set).toThrow(message);
  });

  test.each(["soon", -1, "366d", Number.NaN, new Date(Number.NaN)])(
    "cannot be due in %s",
    (when) => {
      const set = () => new Store().run().later("remind", when, 1, undefined);
      expect(set).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    },
  );
});

describe("cancelling", () => {
  const rows = [
    { name: "remind", key: "a" },
    { name: "remind", key: "b" },
    { name: "other", key: "a" },
  ];

  test("one key cancels that timer", async () => {
    const run = new Store({}, rows).run();
    expect(await run.cancel("remind", "a")).toBe(1);
    expect((await collected(run)).cancels).toEqual([{ lane: "dm:c_1", name: "remind", key: "a" }]);
  });

  test("a name cancels all of that name", async () => {
    const run = new Store({}, rows).run();
    expect(await run.cancel("remind", undefined)).toBe(2);
    expect((await collected(run)).cancels).toEqual([
      { lane: "dm:c_1", name: "remind", key: undefined },
    ]);
  });

  test("what is not there counts as none, and leaves nothing to do", async () => {
    const run = new Store({}, rows).run();
    expect(await run.cancel("remind", "z")).toBe(0);
    expect(await run.collect()).toBeUndefined();
  });

  test("counts timers of this run, and a replaced one once", async () => {
    const run = new Store({}, rows).run();
    run.later("remind", "1m", 1, "a");
    run.later("remind", "1m", 1, "new");
    expect(await run.cancel("remind", undefined)).toBe(3);
    expect((await collected(run)).timers).toEqual([]);
  });

  test("twice counts the second time what was set since", async () => {
    const run = new Store({}, rows).run();
    expect(await run.cancel("remind", undefined)).toBe(2);
    expect(await run.cancel("remind", "a")).toBe(0);
    run.later("remind", "1m", 1, "a");
    expect(await run.cancel("remind", "a")).toBe(1);
    expect(await run.cancel("remind", undefined)).toBe(0);
  });

  test("and setting again leaves the new timer, because cancels come first", async () => {
    const run = new Store({}, rows).run();
    await run.cancel("remind", undefined);
    run.later("remind", "1m", "new", "a");
    const { timers, cancels } = await collected(run);
    expect(cancels).toHaveLength(1);
    expect(timers.map(dataOf)).toEqual(["new"]);
  });
});
