import { describe, expect, test } from "vitest";
import { orderKey } from "../../faces/events.ts";
import type { Claim } from "../../faces/inbox.ts";
import type { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { emptyPlace, openAt, type Place, through } from "../../support/postgres/open.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

/**
 * Claims and completions read a lane without locking it, and write it only if it has not changed since. These tests
 * change the lane between the read and the write.
 */
const LEASE = 30_000;

async function two() {
  const place = await emptyPlace();
  return { place, one: await openAt(place), other: await openAt(place) };
}

/** Discards a pending event that is not the first in its lane, and locks the lane until the commit. */
function discarding(place: Place, id: string) {
  const { schema } = place;
  return hold(
    place,
    `UPDATE ${schema}.event SET state = 'discarded', done_at = 1, reason = 'spam' WHERE id = '${id}';
     UPDATE ${schema}.lane SET pending = pending - 1, done_at = 1 WHERE key = 'dm:c1'`,
  );
}

describe("while a lane is about to go on", () => {
  for (const third of [undefined, "3"]) {
    const what = third === undefined ? "and was the last one" : "and is passed over";
    test(`the event behind it is discarded ${what}`, async () => {
      const { place, one } = await two();
      await one.put(messages("1", "2", ...(third === undefined ? [] : [third])), "webhook");
      const claim = first(await one.claim(1, LEASE));
      const free = await discarding(place, "2");
      const advancing = one.advance(claim);
      await free(1, "COMMIT");
      const { held, next } = await advancing;
      expect(held).toBe(true);
      expect([undefined, third]).toContain(next?.id);
      const rest = next === undefined ? await one.claim(1, LEASE) : [next];
      expect(rest.map(({ id, attempt }) => ({ id, attempt }))).toEqual(
        third === undefined ? [] : [{ id: third, attempt: 1 }],
      );
      for (const last of rest) expect(await one.complete(last)).toBe(true);
      expect(await one.nextReadyIn()).toBeUndefined();
      expect(await one.heal()).toBe(0);
    });
  }

  test("the event behind it is about to be discarded, and is not after all", async () => {
    const { place, one } = await two();
    await one.put(messages("1", "2"), "webhook");
    const claim = first(await one.claim(1, LEASE));
    const free = await discarding(place, "2");
    const advancing = one.advance(claim);
    await free(1, "ROLLBACK");
    const { held, next } = await advancing;
    expect(held).toBe(true);
    expect(next ?? first(await one.claim(1, LEASE))).toMatchObject({ id: "2", attempt: 1 });
  });

  test("an event comes in: it is gone on with, or its lane is ready at once", async () => {
    const { place, one, other } = await two();
    for (const [before, id] of [["5"], ["6", "7"]].entries()) {
      await one.put(messages(...id), "webhook");
      const claim = first(await one.claim(1, LEASE));
      const free = await hold(place, `SELECT FROM ${place.schema}.lane FOR UPDATE`);
      // In the second round, this event comes before the waiting event.
      const early = String(before + 1);
      const putting = other.put(messages(early), "webhook");
      await free.waiting(1);
      const advancing = one.advance(claim);
      await free(2);
      const { held, next } = await advancing;
      expect(held).toBe(true);
      await putting;
      const rest: string[] = [];
      for (let at = next ?? first(await one.claim(1, LEASE)); ; ) {
        rest.push(at.id);
        expect(await one.complete(at)).toBe(true);
        const [more] = await one.claim(1, LEASE);
        if (more === undefined) break;
        at = more;
      }
      expect(rest.sort()).toEqual([early, ...id.slice(1)].sort());
    }
    expect(await one.heal()).toBe(0);
  });
});

describe("between a look at what a lane holds and its claim", () => {
  /**
   * A statement reads the time when it starts. This expression makes it wait first, so the statement continues with an
   * old snapshot.
   */
  const KEY = 20_251;
  const slowTime = `(SELECT 1800000000000 FROM pg_advisory_xact_lock_shared(${KEY}))`;
  const now = () => slowTime as unknown as number;

  async function claimBeside(sql: (place: Place) => string, ...ids: readonly string[]) {
    const place = await emptyPlace();
    const one = await openAt(place, { now });
    await one.put(messages(...ids), "webhook");
    const free = await hold(place, `SELECT pg_advisory_xact_lock(${KEY}); ${sql(place)}`);
    const claiming = one.claim(1, LEASE);
    await free(1, "COMMIT");
    // The first claim skips the changed lane, and the second claim takes it.
    return { one, claims: [...(await claiming), ...(await one.claim(1, LEASE))] };
  }

  test("its first event is discarded: it is never handed out", async () => {
    const { one, claims } = await claimBeside(
      ({ schema }) => `
        UPDATE ${schema}.event SET state = 'discarded', done_at = 1, reason = 'spam' WHERE id = '1';
        UPDATE ${schema}.lane SET pending = pending - 1, done_at = 1, ready_at = 0`,
      ...["1", "2"],
    );
    expect(claims).toMatchObject([{ id: "2", attempt: 1 }]);
    expect(await one.complete(first(claims))).toBe(true);
    expect(await one.nextReadyIn()).toBeUndefined();
  });

  test("an event comes in that goes before it: that one is handed out first", async () => {
    const { claims } = await claimBeside(
      ({ schema }) => `
        INSERT INTO ${schema}.event (id, lane, ord, type, body, source, state, received_at)
        SELECT '1', lane, '${orderKey("1")}', type, body, source, state, received_at FROM ${schema}.event;
        UPDATE ${schema}.lane SET pending = pending + 1`,
      "2",
    );
    expect(claims).toMatchObject([{ id: "1", attempt: 1 }]);
  });

  test("nothing happens: it is handed out at once", async () => {
    const { claims } = await claimBeside(() => "SELECT 1", "1");
    expect(claims).toMatchObject([{ id: "1", attempt: 1 }]);
  });
});

describe("a lane that advanced without a notification", () => {
  test("is given back by the next claim: its event runs once, and no attempt is counted", async () => {
    const place = await emptyPlace();
    const proxy = await TcpProxy.to(Number(new URL(place.url).port));
    const clock = new ManualClock(1_800_000_000_000);
    const bot = await openAt(through(place, proxy), { clock, timeoutMs: 1_000 });
    await bot.put(
      [message("1", "a"), message("2", "a"), message("3", "b"), message("4", "b")],
      "webhook",
    );
    const [a, b] = await bot.claim(2, LEASE);
    if (a === undefined || b === undefined) throw new Error("two lanes");
    proxy.hush();
    await expect(bot.advance(a)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    proxy.mend();
    // Positive control: the server executed the lost request.
    expect(await bot.admin.show("2")).toMatchObject({ leased: true, attempts: 1 });
    expect(await bot.advance(a)).toMatchObject({ held: false });
    const again = await bot.claim(10, LEASE);
    expect(again).toMatchObject([{ id: "2", attempt: 1, crashes: 0 }]);
    expect(await bot.admin.show("2")).toMatchObject({ history: [] });
    // A lane that this process knows to be leased stays leased.
    const { next } = await bot.advance(b);
    expect(next).toMatchObject({ id: "4", attempt: 1 });
    expect(await bot.claim(10, LEASE)).toEqual([]);
    for (const claim of [...again, ...(next ? [next] : [])]) {
      expect(await bot.complete(claim)).toBe(true);
    }
    expect(await bot.stats()).toMatchObject({ pending: 0, done: 4 });
  });

  test("goes on, even if another part of its round failed", async () => {
    const place = await emptyPlace();
    let fails = true;
    const onStatement = (text: string) => {
      if (fails && text.includes("buried")) throw new Error("the connection is gone");
    };
    const bot = await openAt(place, { onStatement });
    await bot.put([message("1", "a"), message("2", "a"), message("3", "b")], "webhook");
    const [a, b] = await bot.claim(2, LEASE);
    if (a === undefined || b === undefined) throw new Error("two lanes");
    const advancing = bot.advance(a);
    await expect(bot.bury(b, "x")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const { next } = await advancing;
    expect(next?.id).toBe("2");
    fails = false;
    expect(next && (await bot.complete(next))).toBe(true);
    expect(await bot.bury(b, "x")).toBe(true);
    expect(await bot.stats()).toMatchObject({ pending: 0, done: 2, dead: 1 });
  });

  test("is kept where it did not go on at all: the next try ends its event", async () => {
    let fails = true;
    const onStatement = (text: string) => {
      if (fails && text.includes("goes_on")) throw new Error("the connection is gone");
    };
    const bot = await openAt(await emptyPlace(), { onStatement });
    await bot.put(messages("1", "2"), "webhook");
    const claim = first(await bot.claim(1, LEASE));
    await expect(bot.advance(claim)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    fails = false;
    expect(await bot.claim(10, LEASE)).toEqual([]);
    expect(await bot.advance(claim)).toMatchObject({ held: true, next: { id: "2", attempt: 1 } });
  });
});

describe("while another instance takes a lane over", () => {
  const writes = {
    "an intent": (one: PostgresInbox, claim: Claim) => one.beginStep(claim, "new", "{}"),
    "a result": (one: PostgresInbox, claim: Claim) => one.finishStep(claim, "old", "{}", "m_1"),
    "an effect that was found": (one: PostgresInbox, claim: Claim) =>
      one.reconcileStep(claim, "old", "{}", "m_1"),
  };

  test.each(Object.entries(writes))("%s waits for its outcome", async (_, write) => {
    for (const [end, answers] of [
      ["COMMIT", [undefined, false, "lost"]],
      ["ROLLBACK", [{ state: "new" }, true, "adopted"]],
    ] as const) {
      const { place, one } = await two();
      await one.put(messages("1"), "webhook");
      const claim = first(await one.claim(1, LEASE));
      await one.beginStep(claim, "old", "{}");
      const free = await hold(place, `UPDATE ${place.schema}.lane SET fence = fence + 1`);
      const writing = write(one, claim);
      await free(1, end);
      expect(answers).toContainEqual(await writing);
    }
  });
});
