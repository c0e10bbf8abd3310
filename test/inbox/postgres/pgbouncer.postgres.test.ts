import pg from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { inboxContract } from "../../contract/inbox-contract.ts";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { messages } from "../../support/inbox-events.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, reusedPlace, through } from "../../support/postgres/open.ts";
import { PgBouncer, whyNoPgBouncer } from "../../support/postgres/pgbouncer.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

const reason = whyNoPgBouncer();

test.runIf(reason !== undefined)(`${reason}`, () => undefined);

describe.skipIf(reason !== undefined)("behind PgBouncer in transaction mode", () => {
  describe("that has fewer sessions than one inbox opens", () => {
    let started: Promise<PgBouncer> | undefined;
    afterAll(async () => (await started)?.stop());

    inboxContract("PostgreSQL 18 by two sessions", async ({ clock, maxBacklog }) => {
      const place = await reusedPlace();
      started ??= PgBouncer.start(place.url, { default_pool_size: 2 });
      const options = { now: () => clock.now(), clock, maxBacklog };
      return await PostgresInbox.open({ ...through(place, await started), ...options });
    });
  });

  test("nothing is left in a session, and the inbox is looked at every second", async () => {
    const place = await emptyPlace();
    const pooler = await PgBouncer.start(place.url, { default_pool_size: 1 });
    onTestFinished(() => pooler.stop());
    const [session] = await onlySession(through(place, pooler).url);
    const proxy = await TcpProxy.to(pooler.port);
    const clock = new ManualClock(1_800_000_000_000);
    const bot = await openAt(through(place, proxy), { clock });
    // The bot gives up its LISTEN connection.
    while (proxy.ended === 0) await bot.ping();
    let calls = 0;
    bot.onReady(() => {
      calls += 1;
    });
    for (let seconds = 1; seconds <= 3; seconds++) {
      await clock.advance(1_000);
      expect(calls).toBe(seconds);
    }
    expect(proxy.made).toBe(2);
    // Without a session, other instances cannot find out that this one has ended, so its leases have to expire.
    await bot.shared.beat({ host: "h", pid: 1, version: "1.0.0" }, undefined);
    expect(await look(place, `SELECT session FROM ${place.schema}.instance`)).toEqual([
      { session: null },
    ]);
    expect(await bot.put(messages("1"), "webhook")).toMatchObject({ stored: ["1"] });
    const claim = first(await bot.claim(1, 30_000));
    await bot.beginStep(claim, "s", "r");
    await bot.bury(claim, "x");
    await bot.admin.retry("1");
    expect(await onlySession(through(place, pooler).url)).toEqual([session]);
  });
});

async function onlySession(url: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT pg_backend_pid() AS pid, ARRAY(SELECT pg_listening_channels()) AS channels,
         (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
         (SELECT count(*) FROM pg_prepared_statements) AS prepared,
         (SELECT json_object_agg(name, setting) FROM pg_settings
          WHERE source = 'session' AND name <> 'application_name') AS settings`,
    );
    return rows;
  } finally {
    await client.end();
  }
}
