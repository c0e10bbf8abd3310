import type { Effects, NewTimer, StateWrite, StoredState, TimerName } from "../effects.ts";
import type { Claim } from "../inbox.ts";
import { changesOf, lastTimers, STATE, versionOf } from "../sql/effects.ts";
import { query, type Script, type SqlStore } from "../sql/store.ts";
import { rowsOf } from "./claims.ts";

/** An ended run and its effects. */
export interface RunEffects {
  readonly claim: Claim;
  readonly effects: Effects;
}

const FIND_STATES = `SELECT ${STATE} FROM {schema}.state WHERE key = ANY ($1::text[])`;

/** Reads the states for several calls with one statement. */
export async function findStates(
  store: Pick<SqlStore, "rows">,
  reads: readonly (readonly string[])[],
): Promise<StoredState[][]> {
  const keys = [...new Set(reads.flat())];
  const rows = await store.rows<StoredState>(FIND_STATES, [keys]);
  const found = new Map(rows.map((row) => [row.key, row]));
  return reads.map((read) => [...new Set(read)].flatMap((key) => found.get(key) ?? []));
}

/**
 * Writes states whose stored version still matches, in key order, and returns their row numbers. A row that another
 * transaction is changing is compared again once it is locked. If two transactions insert the same key, the second
 * waits for the first and inserts nothing.
 */
const WRITE_STATES = `
WITH input AS (
  ${rowsOf({ key: "text", value: "text", expected: "text", version: "text" }, 1)}
), sorted AS MATERIALIZED (
  SELECT * FROM input ORDER BY key COLLATE "C"
), found AS MATERIALIZED (
  SELECT sorted.*, state.* FROM sorted CROSS JOIN LATERAL (
    SELECT ctid AS at FROM {schema}.state WHERE state.key = sorted.key AND state.version = sorted.expected FOR UPDATE
  ) AS state
), changed AS (
  UPDATE {schema}.state SET value = found.value, version = found.version, updated_at = {now}
  FROM found WHERE state.ctid = found.at AND found.value IS NOT NULL
  RETURNING found.n
), deleted AS (
  DELETE FROM {schema}.state USING found WHERE state.ctid = found.at AND found.value IS NULL
  RETURNING found.n
), added AS (
  INSERT INTO {schema}.state (key, value, version, updated_at)
  SELECT key, value, version, {now} FROM sorted WHERE expected IS NULL ORDER BY key COLLATE "C"
  ON CONFLICT (key) DO NOTHING
  RETURNING key
)
SELECT n FROM changed UNION ALL SELECT n FROM deleted
UNION ALL SELECT n FROM sorted JOIN added USING (key)`;

/**
 * Removes timers by name, except those being set again, and sets timers. Concurrent runs work on other lanes, so they
 * cannot interfere.
 */
const WRITE_TIMERS = `
WITH input AS (
  ${rowsOf({ lane: "text", name: "text", key: "text", delay: "bigint", event_id: "text", body: "text" }, 1)}
), cancel AS (
  SELECT * FROM unnest($7::text[], $8::text[], $9::text[]) AS cancel (lane, name, key)
), cancelled AS (
  DELETE FROM {schema}.timer USING cancel
  WHERE timer.lane = cancel.lane AND timer.name = cancel.name AND timer.key = coalesce(cancel.key, timer.key)
    AND NOT EXISTS (
      SELECT FROM input WHERE input.lane = timer.lane AND input.name = timer.name AND input.key = timer.key)
)
INSERT INTO {schema}.timer (lane, name, key, due_at, event_id, body)
SELECT lane, name, key, {now} + delay, event_id, body FROM input
ORDER BY lane COLLATE "C", name COLLATE "C", key COLLATE "C"
ON CONFLICT (lane, name, key) DO UPDATE SET due_at = excluded.due_at, event_id = excluded.event_id,
  body = excluded.body`;

/** Maximum length of the states, timers and results in one transaction, in characters. A single run may have more. */
const MAX_LENGTH = 16 * 1024 * 1024;

/** Returns the runs that write no state written by an earlier run in the list. */
export function withoutSharedKeys<T extends RunEffects>(runs: readonly T[]): readonly T[] {
  const taken = new Set<string>();
  return runs.filter(({ effects: { states } }) => {
    const isFree = states.every(({ key }) => !taken.has(key));
    for (const { key } of states) taken.add(key);
    return isFree;
  });
}

/** Returns the first run, and those of the next runs whose effects together fit into one transaction. */
export function upToSize<T extends RunEffects>(runs: readonly T[]): readonly T[] {
  let length = 0;
  const end = runs.findIndex(({ effects }, nth) => {
    length += lengthOf(effects);
    return nth > 0 && length > MAX_LENGTH;
  });
  return end < 0 ? runs : runs.slice(0, end);
}

function lengthOf({ states, timers, result }: Effects): number {
  let length = result?.result.length ?? 0;
  for (const { value = "" } of states) length += value.length;
  for (const { body } of timers) length += body.length;
  return length;
}

/**
 * Writes the effects of runs that hold their leases. Returns the runs with a conflict. If there are any, the
 * transaction must be rolled back.
 */
export function* writeEffects<T extends RunEffects>(runs: readonly T[]): Script<readonly T[]> {
  const changes = runs.flatMap((run) => changesOf(run.effects).map((change) => ({ run, change })));
  if (changes.length > 0) {
    const rows = yield* query<{ readonly n: number }>(WRITE_STATES, ...columnsOf(changes));
    const written = new Set(rows.map(({ n }) => n));
    const failed = changes.filter((_, nth) => !written.has(nth + 1)).map(({ run }) => run);
    if (failed.length > 0) return [...new Set(failed)];
  }
  const timers = lastTimers(runs.flatMap(({ effects }) => effects.timers));
  const cancels = runs.flatMap(({ effects }) => effects.cancels);
  if (timers.length + cancels.length > 0) {
    yield* query(WRITE_TIMERS, ...timerColumns(timers), ...nameColumns(cancels));
  }
  return [];
}

function columnsOf(
  changes: readonly { readonly run: RunEffects; readonly change: StateWrite }[],
): unknown[] {
  return [
    changes.map(({ change }) => change.key),
    changes.map(({ change }) => change.value ?? null),
    changes.map(({ change }) => change.version ?? null),
    changes.map(({ run }) => versionOf(run.claim)),
  ];
}

function timerColumns(timers: readonly NewTimer[]): unknown[] {
  return [
    ...nameColumns(timers),
    timers.map(({ delayMs }) => delayMs),
    timers.map(({ eventId }) => eventId),
    timers.map(({ body }) => body),
  ];
}

function nameColumns(timers: readonly TimerName[]): unknown[] {
  return [
    timers.map(({ lane }) => lane),
    timers.map(({ name }) => name),
    timers.map(({ key }) => key ?? null),
  ];
}
