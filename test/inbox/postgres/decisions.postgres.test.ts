import { describe, expect, test } from "vitest";
import { Decisions, dialect, type SqlStore } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { messages } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const LEASE = 30_000;
const DAY = 86_400_000;
const keep = { bodiesMs: DAY, idsMs: DAY, deadLettersMs: 2 * DAY };

async function deadLetter() {
  const place = await emptyPlace();
  const clock = new ManualClock(1_800_000_000_000);
  const options = { now: () => clock.now(), clock };
  const one = await openAt(place, options);
  const other = await openAt(place, options);
  await one.put(messages("1"), "webhook");
  await one.bury(first(await one.claim(1, LEASE)), "Error: boom");
  await clock.advance(DAY + 1);
  while (await one.sweep(keep));
  const { schema } = place;
  return {
    ...{ place, one, other },
    /** Deletes the event as the sweep does. Other sessions see the deletion only after the commit. */
    sweeping: () => hold(place, `DELETE FROM ${schema}.event WHERE id = '1' AND state = 'dead'`),
    lanes: () => look(place, `SELECT key, pending FROM ${schema}.lane`),
  };
}

describe.each(["18", "15"])("in PostgreSQL %s, events that have lost their lane", (version) => {
  async function laneless() {
    const place = await emptyPlace(version);
    const clock = new ManualClock(1_800_000_000_000);
    const inbox = await openAt(place, { now: () => clock.now(), clock });
    await inbox.put(messages("1", "2"), "webhook");
    await inbox.retry(first(await inbox.claim(1, LEASE)), 0, "Error: boom");
    await look(place, `DELETE FROM ${place.schema}.lane`);
    return inbox;
  }

  test("are discarded, and those behind them go on", async () => {
    const inbox = await laneless();
    expect(await inbox.admin.discard("1", "spam")).toEqual({ changed: 1, skipped: 0 });
    expect(await inbox.claim(10, LEASE)).toMatchObject([{ id: "2", attempt: 1 }]);
    expect(await inbox.stats()).toMatchObject({ pending: 1 });
  });

  test("get it back when the inbox is healed, with fences of its own", async () => {
    const inbox = await laneless();
    expect(await inbox.claim(10, LEASE)).toEqual([]);
    expect(await inbox.heal()).toBe(1);
    expect(await inbox.heal()).toBe(0);
    const claim = first(await inbox.claim(10, LEASE));
    expect(claim).toMatchObject({ id: "1", attempt: 2, crashes: 0 });
    expect(claim.fence).toBeGreaterThan(1);
    expect(await inbox.advance(claim)).toMatchObject({ held: true, next: { id: "2" } });
  });
});

test("a decision whose lanes are never found is given up after some tries, and says so", async () => {
  let tries = 0;
  const event = { id: "1", lane: "a", state: "pending", has_lane: 1 };
  const store: SqlStore = {
    dialect,
    rows: async () => [],
    write: async () => 0,
    run: async (script) => {
      tries += 1;
      if (tries > 1_000) throw new Error("the request is retried forever");
      const running = script();
      let step = running.next([]);
      while (step.done !== true) {
        step = running.next(step.value.text.includes("LEFT JOIN") ? [event] : []);
      }
      return step.value;
    },
    storage: async () => ({ bytes: 0, walBytes: undefined }),
  };
  const decisions = new Decisions(store);
  const deciding = decisions.discard(["1"], "spam");
  await expect(deciding).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("Try again"),
  });
  expect(tries).toBe(10);
});

describe("a dead letter that is swept out in the moment in which", () => {
  test("it is retried, is gone, and nothing waits for it", async () => {
    const { one, sweeping, lanes } = await deadLetter();
    expect(await lanes()).toEqual([]);
    const free = await sweeping();
    const retrying = one.admin.retry("1");
    // The retry waits for the sweep before it fails.
    const refused = expect(retrying).rejects.toMatchObject({ code: "EVENT_NOT_FOUND" });
    await free(1, "COMMIT");
    await refused;
    expect(await lanes()).toEqual([]);
    expect(await one.stats()).toMatchObject({ pending: 0, dead: 0 });
    expect(await one.nextReadyIn()).toBeUndefined();
  });

  test("it and others are retried, is skipped", async () => {
    const { one, sweeping, lanes } = await deadLetter();
    await one.put(messages("2"), "webhook");
    await one.bury(first(await one.claim(1, LEASE)), "Error: boom");
    const free = await sweeping();
    const retrying = one.admin.retry({});
    await free(1, "COMMIT");
    expect(await retrying).toEqual({ changed: 1, skipped: 1 });
    expect(await lanes()).toEqual([{ key: "dm:c1", pending: 1 }]);
    expect(await one.claim(10, LEASE)).toMatchObject([{ id: "2", attempt: 1 }]);
  });

  test("the event is deleted, and is not reported as discarded", async () => {
    const { one, sweeping } = await deadLetter();
    const free = await sweeping();
    const refused = expect(one.admin.discard("1", "spam")).rejects.toMatchObject({
      code: "EVENT_NOT_FOUND",
    });
    await free(1, "COMMIT");
    await refused;
  });

  test("it is retried, is retried where the sweep comes to nothing", async () => {
    const { one, sweeping, lanes } = await deadLetter();
    const free = await sweeping();
    const retrying = one.admin.retry("1");
    await free(1, "ROLLBACK");
    expect(await retrying).toEqual({ changed: 1, skipped: 0 });
    expect(await lanes()).toEqual([{ key: "dm:c1", pending: 1 }]);
    expect(await one.claim(1, LEASE)).toMatchObject([{ id: "1", attempt: 1 }]);
  });
});

test("two who retry a dead letter at once retry it once", async () => {
  const { place, one, other, lanes } = await deadLetter();
  const free = await hold(place, `SELECT FROM ${place.schema}.event FOR UPDATE`);
  const both = Promise.allSettled([one.admin.retry("1"), other.admin.retry("1")]);
  await free(2);
  // The second finds the event pending, and has no wait to end.
  expect((await both).filter(({ status }) => status === "rejected")).toEqual([]);
  expect(await lanes()).toEqual([{ key: "dm:c1", pending: 1 }]);
});

test("one who retries a dead letter and one who discards it agree on what became of it", async () => {
  const { place, one, other, lanes } = await deadLetter();
  const free = await hold(place, `SELECT FROM ${place.schema}.event FOR UPDATE`);
  const retrying = one.admin.retry("1");
  await free.waiting(1);
  const discarding = other.admin.discard("1", "spam");
  await free(2);
  expect(await retrying).toEqual({ changed: 1, skipped: 0 });
  expect(await discarding).toEqual({ changed: 1, skipped: 0 });
  expect(await one.admin.show("1")).toMatchObject({ state: "discarded", discardReason: "spam" });
  expect(await lanes()).toEqual([{ key: "dm:c1", pending: 0 }]);
  expect(await one.claim(1, LEASE)).toEqual([]);
});

test("a dead letter that was retried and claimed in the moment in which it is discarded is left alone", async () => {
  const { place, one, other, lanes } = await deadLetter();
  const { schema } = place;
  const free = await hold(
    place,
    `UPDATE ${schema}.event SET state = 'pending', attempts = 0, fence = 0, done_at = NULL;
     INSERT INTO ${schema}.lane (key, pending, ready_at, owner, fence, claimed)
     SELECT lane, 1, 1900000000000, 'somebody', 2, seq FROM ${schema}.event`,
  );
  const refused = expect(other.admin.discard("1", "spam")).rejects.toMatchObject({
    code: "EVENT_LEASED",
  });
  await free(1, "COMMIT");
  await refused;
  expect(await one.admin.show("1")).toMatchObject({ state: "pending", leased: true });
  expect(await lanes()).toEqual([{ key: "dm:c1", pending: 1 }]);
});
