import type pg from "pg";
import { describe, expect, test } from "vitest";
import type { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { eventOf, keeps, timer } from "../../support/effects.ts";
import { first } from "../../support/first.ts";
import { message } from "../../support/inbox-events.ts";
import { emptyPlace, openAt, sessionAt } from "../../support/postgres/open.ts";

const LEASE = 30_000;

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

async function watched() {
  const place = await emptyPlace();
  const statements: Statement[] = [];
  const inbox = await openAt(place, {
    onStatement: (text, values) => {
      // Notifications are separate statements, sent at most ten times a second.
      if (!/pg_notify|^(BEGIN|COMMIT)/.test(text)) statements.push({ text, values });
    },
  });
  return { place, inbox, statements, client: await sessionAt(place) };
}

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

/** Runs every statement for an event whose handler sends a reply. */
async function oneEvent(inbox: PostgresInbox, id: string): Promise<void> {
  await inbox.put([message(id, id)], "webhook");
  await inbox.nextReadyIn();
  const claim = first(await inbox.claim(1, LEASE));
  await inbox.extend([claim], LEASE);
  await inbox.beginStep(claim, "s", "");
  await inbox.finishStep(claim, "s", "1", "m_1");
  await inbox.claimedRefs(["m_1"]);
  await inbox.provisionalAdoptions(["m_1"]);
  await inbox.complete(claim);
}

/**
 * Creates an inbox with 60,000 events, as if it had been in use. Nearly all events have ended, a third of them without
 * their bodies. A few are dead, discarded or pending. All events have runs and steps.
 */
async function grown() {
  const scene = await watched();
  const { place, client } = scene;
  const { schema } = place;
  await client.query(
    `INSERT INTO ${schema}.event (id, lane, ord, type, body, source, state, received_at, done_at)
     SELECT n, 'dm:' || n, lpad(n::text, 9, '0'), 'dm.message',
       CASE WHEN n % 3 > 0 THEN repeat('x', 500) END, 'webhook',
       CASE n % 1000 WHEN 1 THEN 'dead' WHEN 2 THEN 'discarded' WHEN 4 THEN 'pending' ELSE 'done' END,
       n, CASE WHEN n % 1000 <> 4 THEN n END
     FROM generate_series(1, 60000) AS n;
     INSERT INTO ${schema}.step (event_id, name, state, request, fence, started_at)
     SELECT n, 'reply', 'done', repeat('x', 100), 1, n FROM generate_series(1, 60000) AS n;
     INSERT INTO ${schema}.attempt (event_id, fence, number, outcome, error, ended_at)
     SELECT n, 1, 1, 'failed', repeat('x', 100), n FROM generate_series(1, 60000) AS n;
     INSERT INTO ${schema}.lane (key, pending, ready_at, done_at)
     SELECT 'dm:' || n, (n % 1000 = 4)::integer, CASE WHEN n % 1000 = 4 THEN 0 END, n
     FROM generate_series(1, 60000) AS n`,
  );
  const names = ["event", "step", "attempt", "lane"].map((name) => `${schema}.${name}`);
  await client.query(`VACUUM ANALYZE ${names.join(", ")}`);
  // With a large table, PostgreSQL would look up each row of a batch. This table is smaller and cached, so lower the
  // cost of a lookup.
  await client.query("SET random_page_cost = 1.1");
  // Set this directly, because an open transaction in another test could prevent the vacuum from setting it.
  await client.query(
    "UPDATE pg_class SET relallvisible = relpages WHERE oid = ANY ($1::regclass[])",
    [names],
  );
  return scene;
}

async function planOf(client: pg.Client, { text, values }: Statement): Promise<string> {
  const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);
  return rows.map((row) => String(row["QUERY PLAN"])).join("\n");
}

const SCAN = /Seq Scan on (event|lane|step|attempt|state|timer)/;

async function expectNoScan(client: pg.Client, statements: readonly Statement[]): Promise<void> {
  for (const one of statements) expect(await planOf(client, one), one.text).not.toMatch(SCAN);
}

describe("of the indexes", () => {
  test("no statement for each event scans a whole table", async () => {
    const { place, inbox, statements, client } = await watched();
    const lanes = numbers(3_000).map((n) => message(String(n + 10), `c${n}`));
    const hot = numbers(3_000).map((n) => message(String(n + 100_000), "hot"));
    await inbox.put([...lanes, ...hot], "webhook");
    for (const analysed of [false, true]) {
      if (analysed) await client.query(`ANALYZE ${place.schema}.event, ${place.schema}.lane`);
      statements.length = 0;
      await oneEvent(inbox, analysed ? "2" : "1");
      await inbox.retry(first(await inbox.claim(1, LEASE)), 0, "x");
      await inbox.bury(first(await inbox.claim(1, LEASE)), "x");
      // Every process that reads the status runs these statements.
      await inbox.shared.report();
      await expectNoScan(client, statements);
    }
    expect(statements.length).toBeGreaterThan(10);
  });

  test("no statement for an event with effects does, nor for a timer", async () => {
    const { place, inbox, statements, client } = await watched();
    const { schema } = place;
    await client.query(
      `INSERT INTO ${schema}.state SELECT 'k' || n, '{}', n, n FROM generate_series(1, 5000) AS n;
       INSERT INTO ${schema}.timer
       SELECT 'dm:' || n, 'remind', n, 9e15 + n, n, '{}' FROM generate_series(1, 5000) AS n;
       ANALYZE ${schema}.state, ${schema}.timer`,
    );
    await inbox.put([message("1", "a")], "webhook");
    const claim = first(await inbox.claim(1, LEASE));
    statements.length = 0;
    const cancels = [
      { lane: "dm:7", name: "remind" },
      { lane: "dm:8", name: "remind", key: "8" },
    ];
    const states = [
      { key: "k1", value: "1", version: "1" },
      { key: "k2", value: undefined, version: "2" },
      { key: "new", value: "1", version: undefined },
    ];
    await inbox.complete(claim, { states, cancels, timers: [timer("a", 0)] });
    await inbox.states(["k1"]);
    await inbox.timers({ lane: "dm:9", name: "remind" });
    await inbox.fireTimers(10, eventOf);
    await inbox.admin.states({ prefix: "k1" });
    await inbox.admin.timers();
    await inbox.admin.makeTimersDue({ lane: "dm:9", name: "remind" });
    expect(statements.length).toBeGreaterThan(10);
    await expectNoScan(client, statements);
  });

  test("nor do occasional statements: counts, the search for stranded lanes, and each phase of a sweep", async () => {
    const { place, inbox, statements, client } = await grown();
    statements.length = 0;
    const { done } = await inbox.stats();
    await inbox.admin.stats();
    expect(await inbox.heal()).toBe(0);
    // Keep some batches of each kind, so that the table stays large.
    const ageMs = Date.now() - 2_000;
    const keep = { bodiesMs: ageMs, idsMs: ageMs, deadLettersMs: ageMs };
    while (await inbox.sweep(keep));
    const left = (await inbox.stats()).done;
    expect(left).toBeLessThan(done);
    expect(left).toBeGreaterThan(done / 2);
    expect(statements.length).toBeGreaterThan(10);
    await expectNoScan(client, statements);
    // Positive control: a statement that scans the table.
    const whole = {
      text: `SELECT count(*) FROM ${place.schema}.event WHERE error IS NULL`,
      values: [],
    };
    expect(await planOf(client, whole)).toMatch(SCAN);
  });

  test("a page of a list is read by indexes, and only as far as the page goes", async () => {
    const { place, inbox, statements, client } = await watched();
    await inbox.put(
      numbers(6_000).map((n) => message(String(n), `c${n}`)),
      "webhook",
    );
    const claims = [...(await inbox.claim(500, LEASE)), ...(await inbox.claim(500, LEASE))];
    await Promise.all(claims.slice(0, 900).map((claim) => inbox.complete(claim)));
    await Promise.all(claims.slice(900).map((claim) => inbox.bury(claim, "x")));
    await client.query(
      `UPDATE ${place.schema}.event SET body = NULL WHERE id < '3' AND state = 'done'`,
    );
    await client.query(
      `UPDATE ${place.schema}.event SET state = 'done', done_at = seq WHERE state = 'pending' AND id > '15'`,
    );
    await client.query(`VACUUM ANALYZE ${place.schema}.event, ${place.schema}.lane`);
    for (const state of [undefined, "done", "dead", "discarded"] as const) {
      statements.length = 0;
      const { next } = await inbox.admin.list({ state, limit: 20 });
      await inbox.admin.list({ state, limit: 20, after: next });
      for (const { text, values } of statements) {
        const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, [...values]);
        const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
        expect(plan, plan).not.toMatch(/Seq Scan on (event|lane)/);
      }
    }
    expect(statements.length).toBeGreaterThan(0);
  });
});

const eventsIn = (lanes: number, events: number) =>
  numbers(events).map((n) => message(String(n), `c${n % lanes}`));

describe("each of these is one round trip, and commits by itself", () => {
  test("a batch, however many events it has", async () => {
    const { inbox, statements } = await watched();
    statements.length = 0;
    await inbox.put(eventsIn(50, 50), "webhook", [{ name: "events", position: "49" }]);
    expect(statements).toHaveLength(1);
    expect(await inbox.cursor("events")).toBe("49");
  });

  test("a claim of many lanes, and the outcomes of what ends together", async () => {
    const { inbox, statements } = await watched();
    await inbox.put(eventsIn(50, 50), "webhook");
    statements.length = 0;
    const claims = await inbox.claim(50, LEASE);
    expect(claims).toHaveLength(50);
    expect(statements).toHaveLength(1);
    const done = claims.slice(0, 40).map((claim) => inbox.complete(claim));
    expect(new Set(await Promise.all(done))).toEqual(new Set([true]));
    expect(statements).toHaveLength(2);
    const buried = claims.slice(40).map((claim) => inbox.bury(claim, "x"));
    expect(new Set(await Promise.all(buried))).toEqual(new Set([true]));
    expect(statements).toHaveLength(3);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 40, dead: 10 });
  });

  test("the outcomes of what ends together, with the next events of all their lanes", async () => {
    const { inbox, statements } = await watched();
    await inbox.put(eventsIn(50, 100), "webhook");
    const claims = await inbox.claim(50, LEASE);
    statements.length = 0;
    const advances = await Promise.all(claims.map((claim) => inbox.advance(claim)));
    expect(statements).toHaveLength(1);
    expect(advances.map(({ next }) => next?.lane)).toEqual(claims.map(({ lane }) => lane));
    // Burying events takes another statement.
    const ended = advances.map(({ next }, n) => {
      if (next === undefined) throw new Error("each lane has two");
      return n % 5 === 0 ? inbox.bury(next, "x") : inbox.complete(next);
    });
    expect(new Set(await Promise.all(ended))).toEqual(new Set([true]));
    expect(statements).toHaveLength(3);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 90, dead: 10 });
  });

  test("the outcomes of what ends together with effects, but for the parts of one transaction", async () => {
    const { inbox, statements } = await watched();
    await inbox.put(eventsIn(50, 100), "webhook");
    const claims = await inbox.claim(50, LEASE);
    statements.length = 0;
    const advances = await Promise.all(
      claims.map((claim) => inbox.advance(claim, keeps(claim.lane, 1))),
    );
    // One statement for the events and lanes, and one for the states.
    expect(statements).toHaveLength(2);
    const reads = await Promise.all(claims.map(({ lane }) => inbox.states([lane])));
    expect(statements).toHaveLength(3);
    const ended = advances.map(({ next }, n) => {
      if (next === undefined) throw new Error("each lane has two");
      const some = keeps(next.lane, 2, reads[n]?.[0]?.version);
      const timers = [timer("a", 0, { lane: next.lane, eventId: `timer:remind:${n}` })];
      return inbox.complete(next, { ...some, timers });
    });
    expect(new Set(await Promise.all(ended))).toEqual(new Set([true]));
    expect(statements).toHaveLength(6);
    // These statements read the next due time before and after, and write lanes, timers and events.
    expect(await inbox.fireTimers(100, eventOf)).toMatchObject({ fired: 50 });
    expect(statements).toHaveLength(12);
  });

  test("an event without effects runs no statement on states or timers", async () => {
    const { inbox, statements } = await watched();
    statements.length = 0;
    await oneEvent(inbox, "1");
    while (await inbox.sweep({ bodiesMs: 0, idsMs: 0, deadLettersMs: 0 }));
    expect(statements.length).toBeGreaterThan(8);
    for (const { text } of statements) expect(text).not.toMatch(/"\.(state|timer)\b/);
    // Positive control: statements for states do match.
    await inbox.states(["k"]);
    expect(statements.at(-1)?.text).toMatch(/"\.(state|timer)\b/);
  });
});

test("leases use the database's clock, regardless of this process's time", async () => {
  const { inbox, statements, client, place } = await watched();
  await inbox.put([message("1")], "webhook");
  const claim = first(await inbox.claim(1, LEASE));
  const { rows } = await client.query(
    `SELECT ready_at - extract(epoch FROM now()) * 1000 AS left FROM ${place.schema}.lane`,
  );
  expect(Number(rows[0]?.left)).toBeGreaterThan(LEASE - 10_000);
  expect(Number(rows[0]?.left)).toBeLessThanOrEqual(LEASE);
  await inbox.extend([claim], LEASE);
  await inbox.beginStep(claim, "s", "");
  await inbox.retry(claim, 1_000, "x");
  const now = Date.now();
  // No statement contains a timestamp from this process's clock.
  const sent = statements
    .flatMap(({ values }) => values.flat())
    .filter((v) => typeof v === "number");
  expect(sent.length).toBeGreaterThan(5);
  expect(sent.filter((value) => Math.abs(value - now) < 86_400_000)).toEqual([]);
});
