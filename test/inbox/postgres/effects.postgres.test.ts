import { describe, expect, test } from "vitest";
import type { Claim, Effects } from "../../faces/inbox.ts";
import type { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { effects, eventOf, keeps, timer } from "../../support/effects.ts";
import { first } from "../../support/first.ts";
import { message } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const LEASE = 30_000;

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

async function withState(onStatement: (text: string) => void = () => undefined) {
  const place = await emptyPlace();
  const bot = await openAt(place, { onStatement });
  const state = `INSERT INTO ${place.schema}.state VALUES ('k', '1', 'old', 0)`;
  await look(place, state);
  return { place, bot };
}

async function claims(bot: PostgresInbox, n: number): Promise<readonly Claim[]> {
  await bot.put(
    numbers(n).map((at) => message(`${at}`, `c${String(at).padStart(3, "0")}`)),
    "webhook",
  );
  const claimed = await bot.claim(n, LEASE);
  expect(claimed).toHaveLength(n);
  return claimed;
}

const outcomesOf = async (endings: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(endings)).map((one) =>
    one.status === "fulfilled" ? one.value : one.reason.code,
  );

describe("a state that another transaction is about to write", () => {
  const others = {
    change: ["UPDATE {schema}.state SET version = 'new' WHERE key = 'k'", "old"],
    delete: ["DELETE FROM {schema}.state WHERE key = 'k'", "old"],
    add: ["INSERT INTO {schema}.state VALUES ('new', '1', 'x', 0)", undefined],
  } as const;

  for (const [name, [sql, version]] of Object.entries(others)) {
    for (const [end, outcome] of [
      ["COMMIT", "STATE_CONFLICT"],
      ["ROLLBACK", true],
    ] as const) {
      test(`(${name}) is compared once that has ended, by ${end}`, async () => {
        const { place, bot } = await withState();
        const claim = first(await claims(bot, 1));
        const free = await hold(place, sql.replace("{schema}", place.schema));
        const key = version === undefined ? "new" : "k";
        const ending = outcomesOf([bot.complete(claim, keeps(key, "mine", version))]);
        await free(1, end);
        expect(await ending).toEqual([outcome]);
        const [state] = await bot.states([key]);
        expect(state?.value === '"mine"').toBe(outcome === true);
        expect(await bot.stats()).toMatchObject({ pending: outcome === true ? 0 : 1 });
      });
    }
  }

  test("by two runs of two instances is written by one of them", async () => {
    const { place, bot } = await withState();
    const other = await openAt(place);
    await bot.put([message("1", "a"), message("2", "b")], "webhook");
    const mine = first(await bot.claim(1, LEASE));
    const theirs = first(await other.claim(1, LEASE));
    const both = ["k", "z"].map((key) => ({
      key,
      value: "1",
      version: key === "k" ? "old" : undefined,
    }));
    const ended = await outcomesOf([
      bot.complete(mine, effects({ states: both })),
      other.complete(theirs, effects({ states: [...both].reverse() })),
    ]);
    expect([...ended].sort()).toEqual(["STATE_CONFLICT", true]);
  });
});

describe("a conflict", () => {
  test("among many endings of a round fails its own alone: the others are written with their effects", async () => {
    const { bot } = await withState();
    const all = await claims(bot, 30);
    const ended = await outcomesOf(
      all.map((claim, nth) => {
        if (nth % 3 === 0) return bot.complete(claim);
        const stale = nth % 10 === 1;
        const some = stale ? keeps("k", nth, "older") : keeps(claim.lane, nth);
        return bot.complete(claim, { ...some, timers: [timer("a", 0, { lane: claim.lane })] });
      }),
    );
    const conflicts = numbers(30).filter((nth) => nth % 3 !== 0 && nth % 10 === 1);
    expect(conflicts).toEqual([1, 11]);
    expect(ended).toEqual(
      numbers(30).map((nth) => (conflicts.includes(nth) ? "STATE_CONFLICT" : true)),
    );
    const { states } = await bot.admin.states({ prefix: "dm:" });
    const { timers } = await bot.admin.timers();
    expect([states.length, timers.length]).toEqual([18, 18]);
    expect(await bot.stats()).toMatchObject({ pending: 2, done: 28 });
  });

  test("leaves the lease known: the lane is not given back while its run goes on", async () => {
    let fails = false;
    const { bot } = await withState((text) => {
      if (fails && text.includes("buried")) throw new Error("the connection is gone");
    });
    const [a, b] = await claims(bot, 2);
    if (a === undefined || b === undefined) throw new Error("two lanes");
    const stale = keeps("k", 1, "older");
    expect(await outcomesOf([bot.complete(a, stale)])).toEqual(["STATE_CONFLICT"]);
    fails = true;
    // The outcome is unknown. The next claim therefore releases every lane that the process does not know to be leased.
    expect(await outcomesOf([bot.bury(b, "x")])).toEqual(["STORE_UNAVAILABLE"]);
    fails = false;
    expect(await bot.claim(10, LEASE)).toEqual([]);
    expect(await bot.complete(a, keeps("k", 2, "old"))).toBe(true);
    expect(await bot.bury(b, "x")).toBe(true);
  });

  test("does not wait for anything, nor leaves a transaction open", async () => {
    const { bot, place } = await withState();
    const claim = first(await claims(bot, 1));
    expect(await outcomesOf([bot.complete(claim, keeps("k", 1))])).toEqual(["STATE_CONFLICT"]);
    const open = await look(
      place,
      `SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'
         AND application_name = 'service-bot ${place.schema}'`,
    );
    expect(open).toEqual([]);
  });
});

describe("effects and the end of their event", () => {
  test.each(['INSERT INTO "test_[a-z0-9]+".timer', "^COMMIT"])(
    "are written together, or not at all, where the transaction breaks off at %s",
    async (at) => {
      let breaks = false;
      const { bot } = await withState((text) => {
        if (breaks && new RegExp(at).test(text)) throw new Error("the connection is gone");
      });
      const claim = first(await claims(bot, 1));
      const some: Effects = { ...keeps("k", 2, "old"), timers: [timer("a", 0)] };
      breaks = true;
      expect(await outcomesOf([bot.complete(claim, some)])).toEqual(["STORE_UNAVAILABLE"]);
      breaks = false;
      expect((await bot.states(["k"]))[0]).toMatchObject({ version: "old" });
      expect(await bot.stats()).toMatchObject({ pending: 1 });
      expect(await bot.complete(claim, some)).toBe(true);
      expect((await bot.states(["k"]))[0]).toMatchObject({ value: "2" });
      expect((await bot.admin.timers()).timers).toHaveLength(1);
    },
  );
});

describe("timers of several instances", () => {
  test("become one event each, however the instances fire them", async () => {
    const place = await emptyPlace();
    const instances = await Promise.all(numbers(3).map(() => openAt(place)));
    const [bot] = instances;
    if (bot === undefined) throw new Error("three instances");
    const timers = numbers(1_000).map((n) =>
      timer(`${n}`, 0, { lane: `dm:c${n % 50}`, eventId: `timer:remind:${n}` }),
    );
    await bot.complete(first(await claims(bot, 1)), effects({ timers }));
    const fired = await Promise.all(
      instances.map(async (instance) => {
        let sum = 0;
        for (;;) {
          const page = await instance.fireTimers(100, eventOf);
          sum += page.fired;
          if (page.nextInMs === undefined) return sum;
        }
      }),
    );
    console.info(`timers fired by each instance: ${fired.join(", ")}`);
    expect(fired.reduce((a, b) => a + b)).toBe(1_000);
    expect(await bot.stats()).toMatchObject({ pending: 1_000 });
  });

  test.each(['INSERT INTO "test_[a-z0-9]+".event', "^COMMIT"])(
    "stay where the transaction breaks off at %s, and are fired the next time",
    async (at) => {
      let breaks = false;
      const { bot } = await withState((text) => {
        if (breaks && new RegExp(at).test(text)) throw new Error("the connection is gone");
      });
      await bot.complete(first(await claims(bot, 1)), effects({ timers: [timer("a", 0)] }));
      breaks = true;
      expect(await outcomesOf([bot.fireTimers(10, eventOf)])).toEqual(["STORE_UNAVAILABLE"]);
      breaks = false;
      expect(await bot.stats()).toMatchObject({ pending: 0 });
      expect(await bot.fireTimers(10, eventOf)).toEqual({ fired: 1, nextInMs: undefined });
      expect(await bot.stats()).toMatchObject({ pending: 1 });
    },
  );

  test("that a run cancels while they fire are no deadlock", async () => {
    const { place, bot } = await withState();
    const claim = first(await claims(bot, 1));
    await bot.complete(claim, effects({ timers: [timer("a", 0, { lane: claim.lane })] }));
    await bot.put([message("2", "c000")], "webhook");
    const canceller = first(await bot.claim(1, LEASE));
    // Both statements wait for the lane. The second must see what the first one wrote.
    const free = await hold(place, `SELECT FROM ${place.schema}.lane FOR UPDATE`);
    const cancels = [{ lane: claim.lane, name: "remind" }];
    const both = [bot.fireTimers(10, eventOf), bot.complete(canceller, effects({ cancels }))];
    await free(2);
    const began = performance.now();
    const [fired, done] = await Promise.all(both);
    // PostgreSQL takes a second to detect a deadlock.
    expect(performance.now() - began).toBeLessThan(900);
    expect(done).toBe(true);
    const pending = (await bot.stats()).pending;
    expect(fired).toEqual({ fired: pending, nextInMs: undefined });
  });
});
