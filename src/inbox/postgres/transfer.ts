import { exportedList, valuesOf } from "../event-rows.ts";
import { widenedMark } from "../restored.ts";
import {
  foreignFence,
  TRANSFER_BATCH,
  type Transfer,
  type TransferFilter,
  type WholeEvent,
} from "../transfer.ts";
import { Catalogue } from "./catalogue.ts";
import type { Database, Queries } from "./database.ts";
import { storedMark, storeMark } from "./restored-cursor.ts";
import { FITS, fitting } from "./sql.ts";
import { asStoreError } from "./store-error.ts";

/** All that is read is as it was when the first of it was read. Whoever takes it may have to wait for a disk. */
const SNAPSHOT = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
  "SET LOCAL idle_in_transaction_session_timeout = 300000",
];

const FETCH = `FETCH ${TRANSFER_BATCH} FROM exported`;

const STORE = `
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::integer[], $9::integer[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[])
    WITH ORDINALITY AS input (id, lane, ord, type, body, source, state, attempts, crashes, received_at, done_at, error, reason, trace, n)
), stored AS (
  INSERT INTO {schema}.event (id, lane, ord, type, body, source, state, attempts, crashes, received_at, done_at, error, reason, trace)
  SELECT id, lane, ord, type, body, source, state, attempts, crashes, received_at, done_at, error, reason, trace
  FROM input ORDER BY ord COLLATE "C", n
  ON CONFLICT (id) DO NOTHING
  RETURNING id, lane, ord, state, received_at, done_at
), entered AS (
  INSERT INTO {schema}.lane (key, pending, ready_at, done_ord, done_at)
  SELECT lane, count(*) FILTER (WHERE state = 'pending'),
    least(min(received_at) FILTER (WHERE state = 'pending'), CASE WHEN bool_or(state = 'pending') THEN {now} END),
    max(ord) FILTER (WHERE state IN ('done', 'dead')), max(done_at)
  FROM stored GROUP BY lane ORDER BY lane COLLATE "C"
  ON CONFLICT (key) DO UPDATE SET pending = lane.pending + excluded.pending,
    ready_at = coalesce(lane.ready_at, excluded.ready_at),
    done_ord = greatest(lane.done_ord, excluded.done_ord), done_at = greatest(lane.done_at, excluded.done_at)
)
SELECT id FROM stored`;

const KNOWN = "SELECT count(*) AS n FROM {schema}.event WHERE id = ANY ($1::text[])";

const ATTEMPTS = `
INSERT INTO {schema}.attempt (event_id, fence, number, outcome, error, ended_at)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::text[], $6::bigint[])`;

const STEPS = `
INSERT INTO {schema}.step (event_id, fence, name, state, request, result, ref, started_at)
SELECT event_id, 0, name, state, request, result, ref, started_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
  AS input (event_id, name, state, request, result, ref, started_at)`;

/**
 * Gives away the events of an inbox in PostgreSQL, and takes events into it.
 *
 * @param changed told when events were stored
 */
export function postgresTransfer(
  database: () => Promise<Pick<Database, "rows" | "transaction">>,
  changed: () => void,
): Transfer {
  return {
    async count(filter) {
      const counted = `SELECT count(*) AS n ${fromWhere(filter)}`;
      const queries = await database();
      const [row] = await queries.rows<{ readonly n: number }>(counted, fittingAll(filter));
      return row?.n ?? 0;
    },
    async read(filter, take) {
      await (await database()).transaction((queries) =>
        // What was taken cannot be taken back, so none of it is tried again.
        read(queries, filter, take).catch((error: unknown) => Promise.reject(asStoreError(error))),
      );
    },
    mark: async () => await storedMark(await database()),
    async takeMark(other) {
      await (await database()).transaction(async (queries) =>
        storeMark(queries, widenedMark(await storedMark(queries), other)),
      );
    },
    async known(ids) {
      const queries = await database();
      const [row] = await queries.rows<{ readonly n: number }>(KNOWN, [ids]);
      return row?.n ?? 0;
    },
    async write(events) {
      const ids = await (await database()).transaction((queries) => write(queries, events));
      if (ids.size > 0) changed();
      return ids;
    },
  };
}

function fromWhere({ state }: TransferFilter): string {
  const { where, at } = exportedList(state);
  return `FROM {schema}.event WHERE ${where} AND ${FITS} AND ${at} >= $6::bigint AND ${at} < $7::bigint`;
}

function fittingAll(filter: TransferFilter): readonly unknown[] {
  const { since, until } = valuesOf(filter);
  return [...fitting(filter), since, until];
}

async function read(
  queries: Queries,
  filter: TransferFilter,
  take: (events: readonly WholeEvent[]) => Promise<void>,
): Promise<void> {
  for (const setting of SNAPSHOT) await queries.rows(setting);
  const declare = `DECLARE exported NO SCROLL CURSOR FOR SELECT event.id ${fromWhere(filter)} ORDER BY event.id`;
  await queries.rows(declare, fittingAll(filter));
  const catalogue = new Catalogue(queries);
  for (;;) {
    const rows = await queries.rows<{ readonly id: string }>(FETCH);
    if (rows.length === 0) return;
    await take(await catalogue.wholes(rows.map(({ id }) => id)));
  }
}

async function write(queries: Queries, given: readonly WholeEvent[]): Promise<Set<string>> {
  // Of two with one id the first one counts.
  const events = [...new Map(given.toReversed().map((event) => [event.id, event])).values()];
  const column = <K extends keyof WholeEvent>(name: K) =>
    events.map((event) => event[name] ?? null);
  const rows = await queries.rows<{ readonly id: string }>(STORE, [
    ...[column("id"), column("lane"), column("ord"), column("type"), column("body")],
    ...[column("source"), column("state"), column("attempts"), column("crashes")],
    ...[column("receivedAt"), column("endedAt"), column("error"), column("discardReason")],
    column("trace"),
  ]);
  const stored = new Set(rows.map(({ id }) => id));
  const fresh = events.filter(({ id }) => stored.has(id));
  await writeRuns(queries, fresh);
  await writeSteps(queries, fresh);
  return stored;
}

async function writeRuns(queries: Queries, events: readonly WholeEvent[]): Promise<void> {
  const runs = events.flatMap(({ id, history }) =>
    history.map((run, index) => ({ ...run, id, fence: foreignFence(index, history.length) })),
  );
  if (runs.length === 0) return;
  await queries.rows(ATTEMPTS, [
    ...[runs.map(({ id }) => id), runs.map(({ fence }) => fence)],
    ...[runs.map(({ number }) => number), runs.map(({ outcome }) => outcome)],
    ...[runs.map(({ error }) => error ?? null), runs.map(({ endedAt }) => endedAt)],
  ]);
}

async function writeSteps(queries: Queries, events: readonly WholeEvent[]): Promise<void> {
  const steps = events.flatMap(({ id, steps }) => steps.map((step) => ({ ...step, id })));
  if (steps.length === 0) return;
  await queries.rows(STEPS, [
    ...[steps.map(({ id }) => id), steps.map(({ name }) => name)],
    ...[steps.map(({ state }) => state), steps.map(({ request }) => request)],
    ...[steps.map(({ result }) => result ?? null), steps.map(({ ref }) => ref ?? null)],
    steps.map(({ startedAt }) => startedAt),
  ]);
}
