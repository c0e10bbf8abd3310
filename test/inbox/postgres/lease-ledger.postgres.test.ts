import { describe, expect, test } from "vitest";
import { gate } from "../../dispatcher/harness.ts";
import type { Claim } from "../../faces/inbox.ts";
import { Backlog, LeaseLedger, PostgresEndings } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, through } from "../../support/postgres/open.ts";
import { wakeUpsOf } from "../../support/postgres/wake-ups.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

const LEASE = 30_000;

const claim: Claim = {
  ...{ lane: "a", fence: 1, id: "1", type: "x", body: "{}", source: "webhook" },
  ...{ attempt: 1, crashes: 0, late: false, receivedAt: 0, trace: undefined },
};

/** Creates a ledger that cannot know whether its process holds unrecorded leases. */
async function inDoubt(clock = new ManualClock(0)): Promise<LeaseLedger> {
  const held = new LeaseLedger(clock);
  await held.watch(Promise.reject(new Error("no answer"))).catch(() => undefined);
  held.add(claim);
  return held;
}

test("no lane advances during a release: it would be released with an unknown fence", async () => {
  const held = await inDoubt();
  const giving = gate();
  const lanes: unknown[] = [];
  const given = held.giveBack(LEASE, (...columns) => {
    lanes.push(columns);
    return giving.pass();
  });
  const sent: string[] = [];
  const store = {
    run: () => Promise.reject(new Error("nothing has effects")),
    rows: async <Row>(text: string): Promise<Row[]> => {
      sent.push(text);
      return [];
    },
  };
  const backlog = new Backlog(10, async () => 0);
  const onLetGo = () => undefined;
  const endings = new PostgresEndings({ store, owner: "me", ledger: held, backlog, onLetGo });
  const advancing = endings.advance(claim, {});
  for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
  expect(lanes).toEqual([[["a"], [1]]]);
  expect(sent).toEqual([]);
  giving.open();
  await given;
  expect(await advancing).toEqual({ held: false });
  expect(sent).not.toEqual([]);
});

test("what fails while lanes are given back leaves the doubt, and holds nothing up", async () => {
  const held = await inDoubt();
  const failed = new Error("no answer");
  await expect(held.giveBack(LEASE, () => Promise.reject(failed))).rejects.toBe(failed);
  await held.settled();
  let again = 0;
  const giveBack = () =>
    held.giveBack(LEASE, async () => {
      again += 1;
    });
  await giveBack();
  await giveBack();
  expect(again).toBe(1);
});

test("an advancing lane is not released, for any fence", async () => {
  const held = await inDoubt();
  held.beginAdvance(claim);
  const fences: unknown[] = [];
  await held.giveBack(LEASE, async (...columns) => fences.push(columns));
  expect(fences).toEqual([[["a"], [null]]]);
});

test("a claim that is retried after a conflict is identified by its fence until it is over", async () => {
  const held = await inDoubt();
  held.beginAdvance(claim);
  held.keep(claim);
  const known: unknown[] = [];
  await held.giveBack(LEASE, async (...columns) => known.push(columns));
  held.forget(claim);
  held.endAdvance({ ...claim, lane: "b" }, undefined);
  await held.giveBack(LEASE, async (...columns) => known.push(columns));
  expect(known).toEqual([
    [["a"], [1]],
    [[], []],
  ]);
});

test("lanes are given back every second until a lease has passed, and after a new doubt at once", async () => {
  const clock = new ManualClock(0);
  const held = await inDoubt(clock);
  let times = 0;
  const giveBack = () =>
    held.giveBack(LEASE, async () => {
      times += 1;
    });
  await giveBack();
  await clock.advance(999);
  await giveBack();
  expect(times).toBe(1);
  await clock.advance(1);
  await giveBack();
  expect(times).toBe(2);
  // The last repetition comes after the lease has expired, however late that is.
  await clock.advance(2 * LEASE);
  await giveBack();
  await clock.advance(2 * LEASE);
  await giveBack();
  expect(times).toBe(3);
  for (const total of [4, 5]) {
    held.endAdvance(claim, undefined);
    await giveBack();
    expect(times).toBe(total);
  }
});

describe("a claim that the server carries out after it was given up", () => {
  /** Creates a bot that has given up on a claim of event 1. The claim is still waiting on the server. */
  async function givenUp(clock: ManualClock) {
    const place = await emptyPlace();
    const options = { now: () => clock.now(), clock };
    const gone = await openAt(place, options);
    const bot = await openAt(place, { ...options, timeoutMs: 1_000 });
    await gone.put(messages("1"), "webhook");
    await gone.claim(1, LEASE);
    await clock.advance(LEASE);
    // The claim has to count the unfinished run as a crash, so it waits for this lock on the event.
    const free = await hold(place, `SELECT FROM ${place.schema}.event FOR UPDATE`);
    const claiming = bot.claim(1, LEASE);
    await free.waiting(1);
    await expect(claiming).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    return {
      bot,
      place,
      late: async () => {
        await free(1);
        const lane = `SELECT FROM ${place.schema}.lane WHERE fence = 2`;
        while ((await look(place, lane)).length === 0);
      },
    };
  }

  test("keeps no lane, although lanes were given back before that", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const { bot, late } = await givenUp(clock);
    expect(await bot.claim(1, LEASE)).toEqual([]);
    await late();
    expect(await bot.claim(1, LEASE)).toEqual([]);
    await clock.advance(1_000);
    // The crash that was counted is the previous process's.
    expect(await bot.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 2, crashes: 1 }]);
  });

  test("keeps no lane of a bot that has stopped since, and notifies other instances", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const { bot, late, place } = await givenUp(clock);
    const other = await openAt(place, { now: () => clock.now(), clock });
    await listening(place, 3);
    await late();
    expect(await other.claim(1, LEASE)).toEqual([]);
    const heard = wakeUpsOf(other);
    await bot.close();
    // The first notification reports that the bot has stopped, the second that it has released lanes.
    await heard.reached(2);
    expect(await other.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 2, crashes: 1 }]);
  });
});

test("a bot that stops while the database is away stops all the same", async () => {
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const bot = await openAt(through(place, proxy), { clock: new ManualClock(0) });
  proxy.cut();
  await expect(bot.claim(1, LEASE)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await bot.close();
});

test("a bot that has given up a claim keeps no lane of it when it stops, and gives back no other", async () => {
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const clock = new ManualClock(1_800_000_000_000);
  const bot = await openAt(through(place, proxy), { clock, timeoutMs: 1_000 });
  const other = await openAt(place, { clock });
  await bot.put([message("1", "a"), message("2", "b")], "webhook");
  expect(await bot.claim(1, LEASE)).toMatchObject([{ id: "1" }]);
  proxy.hush();
  await expect(bot.claim(10, LEASE)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  proxy.mend();
  expect(await other.claim(10, LEASE)).toEqual([]);
  expect(await other.admin.show("2")).toMatchObject({ leased: true });
  await bot.close();
  expect(await other.claim(10, LEASE)).toMatchObject([{ id: "2", attempt: 1, crashes: 0 }]);
  expect(await other.admin.show("2")).toMatchObject({ history: [] });
  expect(await other.admin.show("1")).toMatchObject({ leased: true });
});

test("a locked lane delays neither the other lanes nor the claims", async () => {
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const clock = new ManualClock(1_800_000_000_000);
  const options = { now: () => clock.now(), clock, timeoutMs: 1_000 };
  const bot = await openAt(through(place, proxy), options);
  await bot.put([message("1", "a"), message("2", "b")], "webhook");
  // Leaves an idle connection, so that the claim does not open a new one.
  await bot.stats();
  proxy.hush();
  await expect(bot.claim(10, LEASE)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  proxy.mend();
  const leased = `SELECT FROM ${place.schema}.lane WHERE fence = 1`;
  while ((await look(place, leased)).length < 2);
  const free = await hold(place, `SELECT FROM ${place.schema}.lane WHERE key = 'dm:a' FOR UPDATE`);
  expect(await bot.claim(10, LEASE)).toMatchObject([{ id: "2", attempt: 1, crashes: 0 }]);
  await free(0);
  await clock.advance(1_000);
  expect(await bot.claim(10, LEASE)).toMatchObject([{ id: "1", attempt: 1, crashes: 0 }]);
});

test("a lane whose lease was not extended is forgotten", async () => {
  const place = await emptyPlace();
  const clock = new ManualClock(1_800_000_000_000);
  const kept: unknown[] = [];
  const onStatement = (text: string, values: readonly unknown[]) => {
    if (text.includes("known (key, fence)")) kept.push(values.slice(1));
  };
  const options = { now: () => clock.now(), clock };
  const one = await openAt(place, { ...options, onStatement });
  const other = await openAt(place, options);
  await one.put([message("1", "a"), message("2", "b")], "webhook");
  const lost = first(await one.claim(1, LEASE));
  const mine = first(await one.claim(1, 2 * LEASE));
  await clock.advance(LEASE);
  expect(await other.claim(1, LEASE)).toMatchObject([{ lane: lost.lane }]);
  expect(await one.extend([lost, mine], LEASE)).toEqual([mine]);
  // The dropped result makes the ledger look for unknown leases.
  expect(await one.complete({ ...lost, lane: "another" })).toBe(false);
  await one.claim(1, LEASE);
  expect(kept).toEqual([[[mine.lane], [mine.fence]]]);
});
