import { describe, expect, test } from "vitest";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const LEASE = 30_000;

async function two() {
  const place = await emptyPlace();
  const clock = new ManualClock(1_800_000_000_000);
  const options = { now: () => clock.now(), clock };
  const one = await openAt(place, options);
  return { place, clock, one, other: await openAt(place, options) };
}

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe("two processes on one inbox", () => {
  test("never have the same lane, and together have all of them", async () => {
    const { one, other } = await two();
    const events = numbers(200).map((n) => message(String(n), `c${n}`));
    await one.put(events, "webhook");
    const rounds = await Promise.all(
      numbers(40).map((n) => (n % 2 === 0 ? one : other).claim(10, LEASE)),
    );
    const claimed = rounds.flat().map(({ id }) => id);
    expect(new Set(claimed).size).toBe(claimed.length);
    // Each first claim skips lanes that the other had locked. These claims take them.
    for (const rest of [await one.claim(200, LEASE), await other.claim(200, LEASE)]) {
      claimed.push(...rest.map(({ id }) => id));
    }
    expect(new Set(claimed).size).toBe(200);
    expect(claimed).toHaveLength(200);
  });

  test("do not write each other's claims", async () => {
    const { one, other, clock } = await two();
    await one.put(messages("1"), "webhook");
    const lost = first(await one.claim(1, LEASE));
    expect(await other.complete(lost)).toBe(false);
    await clock.advance(LEASE);
    const held = first(await other.claim(1, LEASE));
    expect(held).toMatchObject({ id: "1", attempt: 2, crashes: 1 });
    expect(await one.complete(lost)).toBe(false);
    expect(await one.beginStep(lost, "s", "")).toBeUndefined();
    expect(await one.extend([lost], LEASE)).toEqual([]);
    expect(await other.complete(held)).toBe(true);
  });

  test("let one event at a time run whose runs have crashed twice", async () => {
    const { one, other, clock } = await two();
    await one.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
    for (let crashes = 0; crashes < 2; crashes++) {
      expect(await one.claim(10, LEASE)).toHaveLength(3);
      await clock.advance(LEASE);
    }
    const both = await Promise.all([one.claim(1, LEASE), other.claim(1, LEASE)]);
    expect(both.flat()).toHaveLength(1);
    await clock.advance(1_000);
    const again = await Promise.all([one.claim(10, LEASE), other.claim(10, LEASE)]);
    expect(again.flat()).toEqual([]);
  });

  test("leave it to the one that is deciding which of those events runs", async () => {
    const { place, one, clock } = await two();
    await one.put(messages("1"), "webhook");
    for (let crashes = 0; crashes < 2; crashes++) {
      expect(await one.claim(10, LEASE)).toHaveLength(1);
      await clock.advance(LEASE);
    }
    const free = await hold(place, `SELECT FROM ${place.schema}.suspect FOR UPDATE`);
    expect(await one.claim(10, LEASE)).toEqual([]);
    await free(0);
    await clock.advance(200);
    expect(await one.claim(10, LEASE)).toMatchObject([{ id: "1", attempt: 3 }]);
  });

  test("leave such an event to the one that decides about it, however long its answers take", async () => {
    const { place, one, other, clock } = await two();
    await one.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
    for (let crashes = 0; crashes < 2; crashes++) {
      expect(await one.claim(10, LEASE)).toHaveLength(3);
      await clock.advance(LEASE);
    }
    const free = await hold(place, `LOCK TABLE ${place.schema}.suspect IN ACCESS EXCLUSIVE MODE`);
    const deciding = one.claim(10, LEASE);
    await free.waiting(1);
    await clock.advance(LEASE / 2);
    const looking = other.claim(10, LEASE);
    await Promise.race([looking, free.waiting(2)]);
    await other.admin.discard("3", "nobody needs it");
    await free(0);
    expect(await looking).toEqual([]);
    expect(await deciding).toMatchObject([{ id: "1", attempt: 3 }]);
    // A lane that was not chosen keeps its waiting time. A lane that ended meanwhile stays ended.
    const waits = `SELECT key, ready_at - ${clock.now()} AS ms FROM ${place.schema}.lane ORDER BY key`;
    expect(await look(place, waits)).toEqual([
      { key: "dm:a", ms: String(LEASE) },
      { key: "dm:b", ms: "200" },
      { key: "dm:c", ms: null },
    ]);
  });

  test("start a step of an event once, for concurrent calls", async () => {
    const { one } = await two();
    await one.put(messages("1"), "webhook");
    const claim = first(await one.claim(1, LEASE));
    const begun = await Promise.all(numbers(5).map(() => one.beginStep(claim, "s", "r")));
    expect(begun.filter((start) => start?.state === "new")).toHaveLength(1);
    expect(begun.filter((start) => start?.state === "open")).toHaveLength(4);
  });

  test("do not both have what both have found at the same moment", async () => {
    const { place, one, other } = await two();
    await one.put([message("1", "a"), message("2", "b")], "webhook");
    const [mine, theirs] = [first(await one.claim(1, LEASE)), first(await other.claim(1, LEASE))];
    await one.beginStep(mine, "s", "r");
    await other.beginStep(theirs, "s", "r");
    const free = await hold(
      place,
      `SELECT FROM ${place.schema}.lane WHERE key = '${mine.lane}' FOR UPDATE`,
    );
    const adopting = one.reconcileStep(mine, "s", "1", "post:1");
    await free.waiting(1);
    const alsoAdopting = other.reconcileStep(theirs, "s", "1", "post:1");
    await Promise.race([alsoAdopting, free.waiting(2)]);
    await free(0);
    expect(await Promise.all([adopting, alsoAdopting])).toEqual(["adopted", "taken"]);
  });

  test("see the other's requests in flight", async () => {
    const { one, other, clock } = await two();
    await one.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
    const mine = first(await one.claim(1, LEASE));
    const [theirs, done] = await other.claim(2, LEASE);
    if (theirs === undefined || done === undefined) throw new Error("two lanes were wanted");
    await one.beginStep(mine, "s", "mine");
    await other.beginStep(theirs, "s", "theirs");
    await other.beginStep(done, "s", "done");
    await other.finishStep(done, "s", "1");
    expect(await one.requestsUnderWay(mine, 1_000)).toEqual(["theirs"]);
    await clock.advance(1_000);
    // The request is so old that it cannot still be running.
    expect(await one.requestsUnderWay(mine, 1_000)).toEqual([]);
    expect(await one.requestsUnderWay(mine, 1_001)).toEqual(["theirs"]);
    await other.release(theirs, 0);
    expect(await one.requestsUnderWay(mine, 1_001)).toEqual([]);
  });

  test("fill one backlog: what the other has stored counts before anything is refused", async () => {
    const place = await emptyPlace();
    const [one, other] = [
      await openAt(place, { maxBacklog: 3 }),
      await openAt(place, { maxBacklog: 3 }),
    ];
    await one.put(messages("1", "2", "3"), "webhook");
    await expect(one.put(messages("4"), "webhook")).rejects.toMatchObject({ code: "INBOX_FULL" });
    for (const _ of numbers(3)) await other.complete(first(await other.claim(1, LEASE)));
    expect(await one.put(messages("4"), "webhook")).toMatchObject({ stored: ["4"] });
  });
});

/** Opens two inboxes, and counts how often their batches are tried. */
async function putting() {
  let tries = 0;
  const onStatement = (text: string) => {
    if (text.includes("woken AS")) tries += 1;
  };
  const place = await emptyPlace();
  const [one, other] = [await openAt(place, { onStatement }), await openAt(place, { onStatement })];
  return { place, one, other, tries: () => tries };
}

describe("much at once", () => {
  test("batches with the same events in opposite orders do not wait for each other in a circle", async () => {
    const { place, one, other, tries } = await putting();
    const events = numbers(9).map((n) => message(String(n)));
    // Both batches stop at the middle lane. Unsorted, each would hold the lane that the other needs next.
    const free = await hold(
      place,
      `INSERT INTO ${place.schema}.event (id, lane, ord, type, source, state, received_at)
       VALUES ('5', 'x', 'x', 'x', 'poll', 'done', 0)`,
    );
    const both = [one.put(events, "webhook"), other.put(events.toReversed(), "webhook")];
    await free(2);
    const stored = (await Promise.all(both)).flatMap((result) => result.stored);
    expect(stored.sort()).toEqual(events.map(({ id }) => id));
    // If the batches deadlocked, the server would end one, and the inbox would retry it.
    expect(tries()).toBe(2);
  });

  test("batches for the same lanes do not wait for each other in a circle either", async () => {
    const { place, one, other, tries } = await putting();
    const lanes = numbers(40).map(String);
    const batch = (from: number, lanes: readonly string[]) =>
      lanes.map((lane, n) => message(String(from + n), lane));
    await one.put([message("1", "20")], "webhook");
    const free = await hold(
      place,
      `UPDATE ${place.schema}.lane SET done_at = 0 WHERE key = 'dm:20'`,
    );
    const both = [
      one.put(batch(100, lanes), "webhook"),
      other.put(batch(200, lanes.toReversed()), "webhook"),
    ];
    await free(2);
    expect((await Promise.all(both)).map(({ stored }) => stored.length)).toEqual([40, 40]);
    // The first of the three tries created the lane.
    expect(tries()).toBe(3);
  });

  test.each(["complete", "bury"] as const)(
    "an event that arrives just before its lane is let go is not stranded (%s)",
    async (ending) => {
      const { place, one, other } = await two();
      await one.put(messages("1"), "webhook");
      const claim = first(await one.claim(1, LEASE));
      const free = await hold(place, `SELECT FROM ${place.schema}.lane FOR UPDATE`);
      const put = other.put(messages("2"), "webhook");
      await free.waiting(1);
      // This statement begins before the event is visible, and ends after the event has become visible.
      const ended = ending === "bury" ? one.bury(claim, "x") : one.complete(claim);
      await free(2);
      expect(await ended).toBe(true);
      await put;
      expect(await one.claim(1, LEASE)).toMatchObject([{ id: "2" }]);
    },
  );
});

test("a lane that was taken for an event that has ended meanwhile is mended", async () => {
  const { place, one } = await two();
  await one.put(messages("1", "2"), "webhook");
  const done = `UPDATE ${place.schema}.event SET state = 'done', done_at = 1 WHERE id`;
  await look(place, `${done} = '1'`);
  expect(await one.claim(1, LEASE)).toMatchObject([{ id: "2" }]);
  await one.put([message("3", "other")], "webhook");
  await look(place, `${done} = '3'`);
  expect(await one.claim(1, LEASE)).toEqual([]);
  expect(
    await look(place, `SELECT pending, ready_at FROM ${place.schema}.lane WHERE key = 'dm:other'`),
  ).toEqual([{ pending: 0, ready_at: null }]);
});
