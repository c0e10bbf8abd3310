import { describe, expect, test } from "vitest";
import type { PostgresInbox } from "../../../src/inbox/postgres/postgres-inbox.ts";
import { harness } from "../../dispatcher/harness.ts";
import { first } from "../../support/first.ts";
import { message } from "../../support/inbox-events.ts";
import { versions } from "../../support/postgres/binaries.ts";
import { emptyPlace, openAt, sessionAt } from "../../support/postgres/open.ts";

const LEASE = 30_000;

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** An inbox, and the statements that it runs. */
async function watched(version = "18") {
  const place = await emptyPlace(version);
  const statements: Statement[] = [];
  const inbox = await openAt(place, {
    onStatement: (text, values) => {
      // That tells other processes, apart from all else, and ten times a second at most.
      if (!text.includes("pg_notify")) statements.push({ text, values });
    },
  });
  return { place, inbox, statements, client: await sessionAt(place) };
}

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

/** Everything that happens to an event on its way, with a reply. */
async function oneEvent(inbox: PostgresInbox, id: string): Promise<void> {
  await inbox.put([message(id, id)], "webhook");
  await inbox.nextReadyIn();
  const claim = first(await inbox.claim(1, LEASE));
  await inbox.extend([claim], LEASE);
  await inbox.beginStep(claim, "s", "");
  await inbox.finishStep(claim, "s", "1", "m_1");
  await inbox.claimedRefs(["m_1"]);
  await inbox.complete(claim);
}

describe.each(versions)("in PostgreSQL %s", (version) => {
  test("nothing that is asked for each event looks at a whole table", async () => {
    const { place, inbox, statements, client } = await watched(version);
    const lanes = numbers(3_000).map((n) => message(String(n + 10), `c${n}`));
    const hot = numbers(3_000).map((n) => message(String(n + 100_000), "hot"));
    await inbox.put([...lanes, ...hot], "webhook");
    for (const analysed of [false, true]) {
      if (analysed) await client.query(`ANALYZE ${place.schema}.event, ${place.schema}.lane`);
      statements.length = 0;
      await oneEvent(inbox, analysed ? "2" : "1");
      await inbox.retry(first(await inbox.claim(1, LEASE)), 0, "x");
      await inbox.bury(first(await inbox.claim(1, LEASE)), "x");
      // What may be asked at any time, by anybody who sees the status.
      await inbox.shared.report();
      for (const { text, values } of statements) {
        const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);
        const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
        expect(plan, text).not.toMatch(/Seq Scan on (event|lane|step|attempt)/);
      }
    }
    expect(statements.length).toBeGreaterThan(10);
  });
});

describe.each(versions)("in PostgreSQL %s", (version) => {
  test("a page of a list is read by indexes, and only as far as the page goes", async () => {
    const { place, inbox, statements, client } = await watched(version);
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

describe("each of these is one round trip, and commits by itself", () => {
  test("a batch, however many events it has", async () => {
    const { inbox, statements } = await watched();
    statements.length = 0;
    const batch = numbers(50).map((n) => message(String(n), `c${n}`));
    await inbox.put(batch, "webhook", [{ name: "events", position: "49" }]);
    expect(statements).toHaveLength(1);
    expect(await inbox.cursor("events")).toBe("49");
  });

  test("a claim of many lanes, and the outcomes of what ends together", async () => {
    const { inbox, statements } = await watched();
    await inbox.put(
      numbers(50).map((n) => message(String(n), `c${n}`)),
      "webhook",
    );
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
    await inbox.put(
      numbers(100).map((n) => message(String(n), `c${n % 50}`)),
      "webhook",
    );
    const claims = await inbox.claim(50, LEASE);
    statements.length = 0;
    const advances = await Promise.all(claims.map((claim) => inbox.advance(claim)));
    expect(statements).toHaveLength(1);
    expect(advances.map(({ next }) => next?.lane)).toEqual(claims.map(({ lane }) => lane));
    // What is buried beside it is a statement of its own.
    const ended = advances.map(({ next }, n) => {
      if (next === undefined) throw new Error("each lane has two");
      return n % 5 === 0 ? inbox.bury(next, "x") : inbox.complete(next);
    });
    expect(new Set(await Promise.all(ended))).toEqual(new Set([true]));
    expect(statements).toHaveLength(3);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 90, dead: 10 });
  });

  test("the count for 1,000 events is printed: from batches of 50 to 16 handlers that do nothing", async () => {
    const { inbox, statements } = await watched();
    statements.length = 0;
    const events = 1_000;
    for (let from = 0; from < events; from += 50) {
      const batch = numbers(50).map((n) => message(String(from + n), `c${from + n}`));
      await inbox.put(batch, "webhook");
    }
    const stored = statements.length;
    const { dispatcher } = harness(() => undefined, { inbox, concurrency: 16 });
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: events });
    const handled = statements.length - stored;
    const per = (n: number) => (n / events).toFixed(3);
    console.info(
      `statements (= round trips) per event: ${per(stored)} to store, ${per(handled)} to claim and complete`,
    );
    expect(stored).toBe(events / 50);
    // One to claim and one to complete for each 16 is an eighth; twice that where little comes together.
    expect(handled).toBeLessThan(events / 4);
  });
});

test("leases are on the database's clock, whatever this process takes the time for", async () => {
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
  // No time of this process is among what it sends.
  const sent = statements
    .flatMap(({ values }) => values.flat())
    .filter((v) => typeof v === "number");
  expect(sent.length).toBeGreaterThan(5);
  expect(sent.filter((value) => Math.abs(value - now) < 86_400_000)).toEqual([]);
});
