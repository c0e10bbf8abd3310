import { describe, expect, test } from "vitest";
import { number, object } from "zod";
import type { RunEffects } from "../faces/effects.ts";
import { Store } from "./support.ts";

const MAX_ITEMS = 10_000;
const FULL_DATA = "x".repeat(65_534);
const tooLarge = expect.objectContaining({ code: "RUN_TOO_LARGE" });

function setTimers(run: RunEffects, count: number): void {
  for (let n = 0; n < count; n++) run.later("remind", 1, n, undefined);
}

describe("one run", () => {
  test("sets 10,000 timers, and is refused the next at the call", async () => {
    const run = new Store().run();
    setTimers(run, MAX_ITEMS);
    expect(() => run.later("remind", 1, 0, undefined)).toThrow(tooLarge);
    expect((await run.collect())?.timers).toHaveLength(MAX_ITEMS);
  });

  test("may replace a timer of 10,000, and set another for one that it has cancelled", async () => {
    const run = new Store().run();
    setTimers(run, MAX_ITEMS - 1);
    run.later("remind", 1, 0, "k");
    run.later("remind", 1, 1, "k");
    expect(await run.cancel("remind", "k")).toBe(1);
    run.later("remind", 1, 0, "other");
    expect(() => run.later("remind", 1, 0, "k")).toThrow(tooLarge);
  });

  test("cancels 10,000 timers of the store by key", async () => {
    const rows = Array.from({ length: MAX_ITEMS + 1 }, (_, n) => ({ name: "a", key: `${n}` }));
    const store = new Store({}, rows.slice(0, 1));
    const run = store.run();
    for (const { name, key } of rows.slice(0, MAX_ITEMS)) {
      store.timerRows = [{ name, key }];
      await run.cancel(name, key);
    }
    store.timerRows = rows.slice(-1);
    await expect(run.cancel("a", `${MAX_ITEMS}`)).rejects.toEqual(tooLarge);
    expect((await run.collect())?.cancels).toHaveLength(MAX_ITEMS);
  });

  test("reads 10,000 states", async () => {
    const run = new Store().run();
    const schema = object({ count: number().default(0) });
    for (let n = 0; n < MAX_ITEMS; n++) await run.state(`k${n}`, schema);
    await run.state("k0", schema);
    await expect(run.state("another", schema)).rejects.toEqual(tooLarge);
    await expect(run.clearState("another")).rejects.toEqual(tooLarge);
  });

  test("sets 16 MiB of timers, and is refused more at the call", () => {
    const run = new Store().run();
    for (let n = 0; n < 254; n++) run.later("remind", 1, FULL_DATA, `${n}`);
    expect(() => setFull(run, 3)).toThrow(tooLarge);
    // A smaller timer in place of a large one leaves room.
    run.later("remind", 1, "", "0");
    run.later("remind", 1, "", "1");
    setFull(run, 1);
  });

  test("writes 16 MiB of states and timers together", async () => {
    const run = new Store().run();
    for (let n = 0; n < 254; n++) run.later("remind", 1, FULL_DATA, `${n}`);
    const schema = object({ text: number().or(object({}).loose()).default(0) }).loose();
    for (let n = 0; n < 3; n++) {
      Object.assign(await run.state(`k${n}`, schema), { more: "x".repeat(65_000) });
    }
    await expect(run.collect()).rejects.toEqual(tooLarge);
  });
});

function setFull(run: RunEffects, count: number): void {
  for (let n = 0; n < count; n++) run.later("remind", 1, FULL_DATA, undefined);
}
