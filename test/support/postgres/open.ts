import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import type { OpenInbox } from "../../contract/open-inbox.ts";
import type { OpenTogether } from "../../contract/shared-contract.ts";
import { PostgresInbox, type PostgresInboxOptions } from "../../faces/inbox-postgres.ts";
import type { ManualClock } from "../../faces/testing.ts";
import { NEWEST } from "./binaries.ts";

/** A place in the server of this version that nobody else uses. */
export interface Place {
  readonly url: string;
  readonly schema: string;
}

/** Starts the server when it is the first to ask. */
export async function emptyPlace(version: string = NEWEST): Promise<Place> {
  const response = await fetch(`${inject("postgres")}/${version}`);
  const answer = await response.text();
  if (!response.ok) throw new Error(`PostgreSQL ${version} cannot be had: ${answer}`);
  return { url: answer, schema: `test_${randomBytes(8).toString("hex")}` };
}

/** A connection as an operator has it, which is closed when the test has finished. */
export async function sessionAt({ url }: Place): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The same place by way of what is in front of its server on this machine. */
export function through(place: Place, { port }: { readonly port: number }): Place {
  const url = new URL(place.url);
  url.port = String(port);
  return { ...place, url: url.href };
}

/** The password of the roles that tests make. */
const PASSWORD = "x";

/** Makes a role that may log in and has no other rights. */
export async function createRole(session: pg.Client, role: string): Promise<void> {
  await session.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
}

/** The same place, for a role of {@link createRole}. */
export function asRole(place: Place, role: string): Place {
  const url = new URL(place.url);
  url.username = role;
  url.password = PASSWORD;
  return { ...place, url: url.href };
}

/** An inbox that is closed when the test has finished. */
export async function openAt(
  place: Place,
  options: Partial<PostgresInboxOptions> = {},
): Promise<PostgresInbox> {
  const inbox = await PostgresInbox.open({ ...place, ...options });
  onTestFinished(() => inbox.close());
  return inbox;
}

/** Places with a schema and without rows, by version of the server. */
const emptied = new Map<string, Place[]>();

/** A place that serves one test after the other, emptied in between: making a schema takes longer than most tests. */
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

/** A connection for each server that empties its places. It does not keep the worker alive. */
const emptying = new Map<string, pg.Pool>();

function emptyingPool({ url }: Place): pg.Pool {
  const known = emptying.get(url);
  if (known !== undefined) return known;
  const pool = new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
  // The server may stop before the worker.
  pool.on("error", () => undefined);
  emptying.set(url, pool);
  return pool;
}

/** Leaves the tables of an inbox as its migrations do. */
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

/** Empty inboxes in the server of a version, on the clock of the suite. */
export function openPostgres(version: string = NEWEST): OpenInbox {
  return async ({ clock, maxBacklog }) => {
    const place = await reusedPlace(version);
    return await PostgresInbox.open({ ...place, now: () => clock.now(), clock, maxBacklog });
  };
}

/** Several inboxes in one empty place, on the clock of the suite. */
export function openPostgresTogether(version: string = NEWEST): OpenTogether {
  // The instances of one test have one clock; with the next clock comes the next test.
  const places = new WeakMap<ManualClock, Promise<Place>>();
  return async (clock, instances) => {
    const place = places.get(clock) ?? reusedPlace(version);
    places.set(clock, place);
    const options = { ...(await place), clock, now: () => clock.now() };
    return await Promise.all(Array.from({ length: instances }, () => PostgresInbox.open(options)));
  };
}
