import { describe, expect, test } from "vitest";
import type { Claim } from "../../faces/inbox.ts";
import type { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { effects, eventOf, keeps, timer } from "../../support/effects.ts";
import { message } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { emptyPlace, openAt, sessionAt } from "../../support/postgres/open.ts";

/**
 * Statements that write several lanes lock them in key order, so that two such statements never deadlock. The order
 * must not depend on the planner, which may scan a small table in its order on disk.
 */
const LEASE = 30_000;
const LANES = 20;
const HELD = 10;

const keyOf = (lane: number) => `c${String(lane).padStart(2, "0")}`;
const eventsOf = (batch: string) =>
  Array.from({ length: LANES }, (_, n) => message(`${batch}${keyOf(n)}`, keyOf(n)));

/** Creates claimed lanes with a second event each. On disk, the lane with the last key comes first. */
async function upsideDown() {
  const place = await emptyPlace();
  const url = new URL(place.url);
  // Without nested loops, the planner scans the table instead of looking up each lane.
  url.searchParams.set("options", "-c enable_nestloop=off");
  const inbox = await openAt({ ...place, url: url.href });
  await inbox.put(eventsOf("1"), "webhook");
  await inbox.put(eventsOf("2"), "webhook");
  const claims = await inbox.claim(LANES, LEASE);
  const client = await sessionAt(place);
  const { schema } = place;
  await client.query(
    `CREATE TEMP TABLE copy AS SELECT * FROM ${schema}.lane;
     TRUNCATE ${schema}.lane;
     INSERT INTO ${schema}.lane SELECT * FROM copy ORDER BY key DESC;
     INSERT INTO ${schema}.timer SELECT key, 'remind', 'k', 0, key, '{}' FROM copy ORDER BY key DESC;
     ANALYZE ${schema}.lane, ${schema}.event, ${schema}.timer`,
  );
  const { rows } = await client.query(`SELECT key FROM ${schema}.lane`);
  expect(rows.map(({ key }) => key)).toEqual(claims.map(({ lane }) => lane).reverse());
  return { place, inbox, client, claims };
}

const writes: Record<string, (inbox: PostgresInbox, claims: readonly Claim[]) => Promise<unknown>> =
  {
    "events are done": (inbox, claims) => Promise.all(claims.map((claim) => inbox.complete(claim))),
    "lanes go on": (inbox, claims) => Promise.all(claims.map((claim) => inbox.advance(claim))),
    "events are buried": (inbox, claims) =>
      Promise.all(claims.map((claim) => inbox.bury(claim, "x"))),
    "effects are written": (inbox, claims) =>
      Promise.all(claims.map((claim) => inbox.advance(claim, keeps(claim.lane, 1)))),
    "timers fire": (inbox) => inbox.fireTimers(LANES, eventOf),
    "leases are extended": (inbox, claims) => inbox.extend(claims, LEASE),
    "a batch is stored": (inbox) => inbox.put(eventsOf("3"), "webhook"),
  };

describe("lanes are taken in the order of their keys", () => {
  test.each(Object.keys(writes))("while %s", async (what) => {
    const { place, inbox, client, claims } = await upsideDown();
    const { schema } = place;
    const keys = claims.map(({ lane }) => lane);
    const free = await hold(
      place,
      `SELECT FROM ${schema}.lane WHERE key = '${keys[HELD]}' FOR UPDATE`,
    );
    const writing = writes[what]?.(inbox, [...claims.slice(HELD), ...claims.slice(0, HELD)]);
    await free.waiting(1);
    const { rows } = await client.query(
      `SELECT key FROM ${schema}.lane ORDER BY key FOR UPDATE SKIP LOCKED`,
    );
    expect(rows.map(({ key }) => key)).toEqual(keys.slice(HELD + 1));
    await free(1);
    await writing;
  });
});

describe("timers of one lane, that lie on the disk with the last key first, are made due", () => {
  const KEYS = Array.from({ length: LANES }, (_, n) => keyOf(n));
  const NAMES = { lane: "dm:a", name: "remind" };

  async function heldTimer() {
    const place = await emptyPlace();
    const inbox = await openAt(place);
    await inbox.put([message("1", "a")], "webhook");
    const [claim] = await inbox.claim(1, LEASE);
    const client = await sessionAt(place);
    const { schema } = place;
    await client.query(
      `INSERT INTO ${schema}.timer SELECT 'dm:a', 'remind', key, 9e15, 'timer:remind:' || key, '{}'
       FROM unnest('{${KEYS.join()}}'::text[]) AS key ORDER BY key DESC;
       ANALYZE ${schema}.timer`,
    );
    const free = await hold(
      place,
      `SELECT FROM ${schema}.timer WHERE key = '${KEYS[HELD]}' FOR UPDATE`,
    );
    const unlocked = async (table: string) => {
      const { rows } = await client.query(
        `SELECT key FROM ${schema}.${table} ORDER BY key FOR UPDATE SKIP LOCKED`,
      );
      return rows.map(({ key }) => key);
    };
    return { place, inbox, client, claim, free, unlocked };
  }

  test("once their lane is locked, as the end of a run does", async () => {
    const { inbox, claim, free, unlocked } = await heldTimer();
    if (claim === undefined) throw new Error("no claim");
    const making = inbox.admin.makeTimersDue(NAMES);
    await free.waiting(1);
    expect(await unlocked("lane")).toEqual([]);
    const timers = KEYS.map((key) => timer(key, 60_000, NAMES));
    const ending = inbox.complete(claim, effects({ timers }));
    await free(2);
    expect(await making).toBe(LANES);
    expect(await ending).toBe(true);
    const { timers: found } = await inbox.admin.timers();
    expect(found.map(({ key, body }) => [key, body])).toEqual(KEYS.map((key) => [key, '{"n":1}']));
  });

  test("in the order of their keys if the lane was forgotten", async () => {
    const { place, inbox, client, free, unlocked } = await heldTimer();
    await client.query(`DELETE FROM ${place.schema}.lane`);
    const making = inbox.admin.makeTimersDue(NAMES);
    await free.waiting(1);
    expect(await unlocked("timer")).toEqual(KEYS.slice(HELD + 1));
    await free(1);
    expect(await making).toBe(LANES);
  });
});
