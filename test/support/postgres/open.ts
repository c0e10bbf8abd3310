import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import type { OpenInbox } from "../../contract/open-inbox.ts";
import type { OpenTogether } from "../../contract/shared-contract.ts";
import { PostgresInbox, type PostgresInboxOptions } from "../../faces/inbox-postgres.ts";
import type { ManualClock } from "../../faces/testing.ts";
import { NEWEST } from "./binaries.ts";

/** A schema that no other test uses. */
export interface Place {
  readonly url: string;
  readonly schema: string;
}

export async function emptyPlace(version: string = NEWEST): Promise<Place> {
  const response = await fetch(`${inject("postgres")}/${version}`);
  const answer = await response.text();
  if (!response.ok) throw new Error(`PostgreSQL ${version} is not available: ${answer}`);
  return { url: answer, schema: `test_${randomBytes(8).toString("hex")}` };
}

/** Connects outside the bot, as an administrator would. The connection closes after the test. */
export async function sessionAt({ url }: Place): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Returns the same schema, but reached through a proxy on a local port. */
export function through(place: Place, { port }: { readonly port: number }): Place {
  const url = new URL(place.url);
  url.port = String(port);
  return { ...place, url: url.href };
}

const PASSWORD = "x";

export async function createRole(session: pg.Client, role: string): Promise<void> {
  await session.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
}

/** Returns the same schema, but accessed by a role from {@link createRole}. */
export function asRole(place: Place, role: string): Place {
  const url = new URL(place.url);
  url.username = role;
  url.password = PASSWORD;
  return { ...place, url: url.href };
}

/** Opens an inbox that closes after the test. */
export async function openAt(
  place: Place,
  options: Partial<PostgresInboxOptions> = {},
): Promise<PostgresInbox> {
  const inbox = await PostgresInbox.open({ ...place, ...options });
  onTestFinished(() => inbox.close());
  return inbox;
}

/** Free schemas that have tables but no rows, by server version. */
const emptied = new Map<string, Place[]>();

/** Returns an emptied schema from an earlier test, because creating a schema takes longer than most tests. */
export async function reusedPlace(version: string = NEWEST): Promise<Place> {
  const free = emptied.get(version) ?? [];
  emptied.set(version, free);
  const place = free.pop() ?? (await emptyPlace(version));
  onTestFinished(async () => {
    await emptyTables(emptyingPool(place), place);
    free.push(place);
  });
  return place;
}

/** A connection per server for emptying schemas. It does not keep the worker alive. */
const emptying = new Map<string, pg.Pool>();

function emptyingPool({ url }: Place): pg.Pool {
  const known = emptying.get(url);
  if (known !== undefined) return known;
  const pool = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
  // The server may stop before the worker does.
  pool.on("error", () => undefined);
  emptying.set(url, pool);
  return pool;
}

/** Resets an inbox's tables to their state right after the migrations. */
export async function emptyTables(
  client: Pick<pg.Pool, "query">,
  { schema }: Place,
): Promise<void> {
  await client.query(
    `DO $$ DECLARE name regclass; BEGIN
       FOR name IN SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('${schema}')
         AND relkind = 'r' AND relname NOT IN ('migration', 'suspect')
       LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
     END $$;
     UPDATE ${schema}.suspect SET lane = NULL, fence = NULL`,
  );
}

export function openPostgres(version: string = NEWEST): OpenInbox {
  return async ({ clock, maxBacklog }) => {
    const place = await reusedPlace(version);
    return await PostgresInbox.open({ ...place, now: () => clock.now(), clock, maxBacklog });
  };
}

/** Opens several inboxes in one empty schema. All of them use the suite's clock. */
export function openPostgresTogether(version: string = NEWEST): OpenTogether {
  // The instances in a test share one clock, so a new clock means a new test.
  const places = new WeakMap<ManualClock, Promise<Place>>();
  return async (clock, instances) => {
    const place = places.get(clock) ?? reusedPlace(version);
    places.set(clock, place);
    const options = { ...(await place), clock, now: () => clock.now() };
    return await Promise.all(Array.from({ length: instances }, () => PostgresInbox.open(options)));
  };
}
