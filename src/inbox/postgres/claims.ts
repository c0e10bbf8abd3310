import type { Claim, ClaimRooms } from "../inbox.ts";
import { LATE_WITHIN_MS, UNTIMED_MARK } from "../lateness.ts";
import { remakeLanes } from "../sql/decisions.ts";
import { HeadClaim, type HeadRow, SUSPECT_CRASHES, SUSPECT_WAIT_MS } from "../sql/sql-inbox.ts";
import { query } from "../sql/store.ts";
import type { Database } from "./database.ts";
import type { LeaseLedger } from "./lease-ledger.ts";
import { Suspects } from "./suspects.ts";

/** Condition of every write by a claim, so that nothing is written once another claim has the lane. */
export const HELD = "key = $1 AND owner = $2 AND fence = $3";

/** Returns the SQL that converts a condition to 1 or 0. */
export const is = (condition: string): string => `coalesce(${condition}, false)::integer`;

/**
 * Builds rows from lists passed as values, with a row number `n` that starts at 1. The planner cannot see the lengths
 * of the lists and assumes few rows. If it assumed hundreds, it would scan small tables, which takes ten times as long
 * as index lookups.
 *
 * @param columns the type of each column, by name
 * @param first the parameter number of the first list
 */
export function rowsOf(columns: Readonly<Record<string, string>>, first = 2): string {
  const lists = Object.values(columns).map((type, nth) => `(SELECT $${nth + first}::${type}[])`);
  const names = [...Object.keys(columns), "n"].join(", ");
  return `SELECT * FROM unnest(${lists.join(", ")}) WITH ORDINALITY AS input (${names}) WHERE n > 0`;
}

/**
 * Sorts the rows by lane key, then by input order. Every transaction locks lanes in this order, which prevents
 * deadlocks.
 */
export const SORTED = 'sorted AS MATERIALIZED (SELECT * FROM input ORDER BY lane COLLATE "C", n)';

/**
 * Locks the lanes of the claims whose leases are still valid. Each row is read after its lock, because a batch may have
 * arrived in the meantime.
 *
 * @param columns lane columns to return, in addition to the input's
 */
export const lockHeld = (columns: string): string => `${SORTED}, held AS MATERIALIZED (
  SELECT sorted.*, lane.* FROM sorted CROSS JOIN LATERAL (
    SELECT ${columns} FROM {schema}.lane
    WHERE key = sorted.lane AND owner = $1 AND fence = sorted.fence FOR UPDATE
  ) AS lane
)`;

const ADD_CRASHES = `
  INSERT INTO {schema}.attempt (event_id, fence, number, outcome, ended_at)
  SELECT id, fence, attempts + uncounted, 'crashed', {now} FROM head WHERE lapsed = 1
  ON CONFLICT (event_id, fence) DO NOTHING`;

/**
 * Returns an SQL expression like `isLate`. Compares the ids' families only if the event has the smaller id.
 *
 * @param end expressions for the sort key and the end of the last event that ended in time
 */
export function isLateSql(
  { ord, receivedAt }: { readonly ord: string; readonly receivedAt: string },
  end: { readonly ord: string; readonly at: string },
): string {
  const family = (key: string) => `coalesce(substring(${key} from '^.*~'), '')`;
  return `coalesce(${ord} < ${end.ord} AND ${isTimedSql(ord)}
    AND ${receivedAt} <= ${end.at} + ${LATE_WITHIN_MS} AND ${family(ord)} = ${family(end.ord)}, false)`;
}

/** Returns an SQL expression like `isTimed`. */
export function isTimedSql(ord: string): string {
  return `(${ord} <> '' AND right(${ord}, 1) <> '${UNTIMED_MARK}')`;
}

const IS_LATE = isLateSql(
  { ord: "ord", receivedAt: "received_at" },
  { ord: "done_ord", at: "done_at" },
);

/**
 * Leases lanes, each with its first event, in one statement. Only lanes are written, because the new attempt is counted
 * on the event when it ends. If a due lane still has an owner, the owner's process died or stalled during a run. That
 * run is counted as an attempt here.
 *
 * The first part is materialized, because otherwise the planner could lock more lanes than the limit. The statement
 * sees events as of its start, and lanes as of their locks. A lane's row changes together with its events, so an
 * unchanged row guarantees that the visible events are current. A changed lane is left for the next claim, and a lane
 * without events is repaired afterwards. A suspect event gets no owner here, and its lane stays closed for one lease.
 * {@link Suspects} decides whether it may run.
 *
 * @param where further conditions on the lanes
 * @param choice the name of the part that selects the lanes. If the name is not `head`, `part` must derive `head` from
 *   it.
 */
const claimStatement = (where: string, choice: { readonly of: string; readonly part: string }) => `
WITH ready AS MATERIALIZED (
  SELECT key, fence, owner, claimed, done_ord, done_at, ready_at, ctid AS at FROM {schema}.lane
  WHERE ready_at <= {now} ${where} ORDER BY ready_at, key LIMIT $1 FOR UPDATE SKIP LOCKED
), ${choice.of} AS MATERIALIZED (
  SELECT ready.*, event.*, event.crashes + event.lapsed >= ${SUSPECT_CRASHES} AS suspect
  FROM ready CROSS JOIN LATERAL (SELECT FROM {schema}.lane WHERE ctid = ready.at OFFSET 0) AS unchanged
  LEFT JOIN LATERAL (
    SELECT seq, id, ord, type, body, source, received_at, trace, attempts, crashes,
      ${is("ready.owner IS NOT NULL AND ready.claimed = seq")} AS uncounted,
      ${is("ready.owner IS NOT NULL AND (ready.claimed = seq OR ready.fence = event.fence)")} AS lapsed
    FROM {schema}.event WHERE lane = ready.key AND state = 'pending'
    ORDER BY ord, seq LIMIT 1
  ) AS event ON true
)${choice.part}, leased AS (
  UPDATE {schema}.lane SET fence = head.fence + 1, claimed = head.seq, begun_at = {now},
    owner = CASE WHEN head.suspect THEN NULL ELSE $2::text END,
    ready_at = {now} + CASE WHEN head.suspect THEN greatest($3::bigint, ${SUSPECT_WAIT_MS}) ELSE $3::bigint END
  FROM head WHERE lane.ctid = head.at AND head.seq IS NOT NULL
), counted AS (
  UPDATE {schema}.event SET fence = head.fence, crashes = event.crashes + head.lapsed,
    attempts = event.attempts + ${is("head.claimed = event.seq")}
  FROM head WHERE head.owner IS NOT NULL AND event.state = 'pending'
    AND event.lane = head.key
    AND event.seq = CASE WHEN head.lapsed = 1 THEN head.seq ELSE head.claimed END
), crashed AS (${ADD_CRASHES})
SELECT key, fence + 1 AS fence, suspect, seq, id, type, body, source, attempts + uncounted AS attempts,
  crashes + lapsed AS crashes, received_at, trace, ${IS_LATE} AS late
FROM head ORDER BY key`;

const CLAIM = claimStatement("", { of: "head", part: "" });

/**
 * Claims within each type's capacity. Lanes whose first event has a type without capacity are not locked. Of the locked
 * lanes, each type leases only as many as its capacity allows. The commit unlocks the others.
 */
const CLAIM_WITHIN = claimStatement(
  `AND coalesce((
    SELECT type FROM {schema}.event WHERE event.lane = lane.key AND state = 'pending' ORDER BY ord, seq LIMIT 1
  ) <> ALL ($4::text[]), true)`,
  {
    of: "candidate",
    part: `, head AS MATERIALIZED (
  SELECT numbered.* FROM (
    SELECT candidate.*, row_number() OVER (PARTITION BY type ORDER BY ready_at, key) AS nth FROM candidate
  ) AS numbered LEFT JOIN unnest($5::text[], $6::integer[]) AS given (type, room) ON given.type = numbered.type
  WHERE numbered.seq IS NULL OR numbered.nth <= coalesce(given.room, $7::integer)
)`,
  },
);

/** Locks the lane, so that its events do not change while they are counted. */
const LOCK = "SELECT key FROM {schema}.lane WHERE key = $1 FOR UPDATE";

/** Recounts the events in a lane that was leased without an event. */
const MEND = `
UPDATE {schema}.lane SET pending = real.n, owner = NULL, done_at = coalesce(done_at, {now}),
  ready_at = CASE WHEN real.n > 0 THEN {now} END
FROM (SELECT count(*) AS n FROM {schema}.event WHERE lane = $1 AND state = 'pending') AS real
WHERE key = $1 AND (ready_at <= {now} OR (owner = $2 AND fence = $3))`;

/**
 * Releases lanes that this process leased without knowing, because the response to a claim was lost. Their events have
 * not run, and because the lanes then have no owner, no attempt is counted. A known lane with a null fence is about to
 * get a new fence. Lanes locked by another transaction are skipped until the next release, so that they do not block
 * the other lanes.
 */
const GIVE_BACK = `
WITH lost AS MATERIALIZED (
  SELECT key FROM {schema}.lane WHERE owner = $1 AND ready_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest($2::text[], $3::bigint[]) AS known (key, fence)
    WHERE known.key = lane.key AND coalesce(known.fence, lane.fence) = lane.fence)
  ORDER BY key FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.lane SET owner = NULL, ready_at = {now} FROM lost WHERE lane.key = lost.key`;

/** Releases the same lanes on shutdown, and notifies the other instances. */
const GIVE_BACK_AT_LAST = `
WITH given AS (${GIVE_BACK} RETURNING lane.key)
SELECT pg_notify($4, $1) FROM (SELECT FROM given LIMIT 1) AS one`;

const EXTEND = `
WITH input AS (
  ${rowsOf({ lane: "text", fence: "bigint" })}
), ${lockHeld("key")}
UPDATE {schema}.lane SET ready_at = {now} + $4::bigint FROM held WHERE lane.key = held.lane
RETURNING lane.key AS lane, lane.fence`;

const NEXT_READY = `
SELECT min(ready_at) - {now} AS ms FROM {schema}.lane WHERE ready_at IS NOT NULL`;

/** Checks an idle lane again under its lock, because an event may have arrived in the meantime. */
const HEAL = `
WITH stranded AS (
  SELECT lane.key, counted.n
  FROM (SELECT lane, count(*) AS n FROM {schema}.event WHERE state = 'pending' GROUP BY lane) AS counted
  JOIN {schema}.lane ON lane.key = counted.lane
  WHERE lane.ready_at IS NULL ORDER BY lane.key FOR UPDATE OF lane
)
UPDATE {schema}.lane SET ready_at = {now}, pending = stranded.n
FROM stranded WHERE lane.key = stranded.key`;

/** A leased lane with its first event. The event is missing if it ended at the same time. */
interface TakenRow extends HeadRow {
  readonly key: string;
  readonly fence: number;
  readonly late: boolean;
  readonly seq: number | null;
  readonly suspect: boolean | null;
}

/** Time limit for connecting and for a response on shutdown, in ms. */
const AT_LAST_MS = 1_000;

/** Maximum number of lanes per statement. With a limit, the first lanes can start while others are being leased. */
const MAX_LANES = 500;

export class Claims {
  readonly #database: Database;
  readonly #owner: string;
  readonly #suspects: Suspects;
  readonly #ledger: LeaseLedger;
  #foundNothing = false;

  constructor(database: Database, owner: string, ledger: LeaseLedger) {
    this.#database = database;
    this.#owner = owner;
    this.#ledger = ledger;
    this.#suspects = new Suspects(database, owner);
  }

  /** True if the last claim found no ready lane, or if other instances held all ready lanes. */
  get foundNothing(): boolean {
    return this.#foundNothing;
  }

  async claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<Claim[]> {
    await this.#ledger.giveBack(leaseMs, (lanes, fences) =>
      this.#database.rows(GIVE_BACK, [this.#owner, lanes, fences]),
    );
    const values = [Math.min(limit, MAX_LANES), this.#owner, leaseMs];
    const claiming =
      rooms === undefined
        ? this.#database.rows<TakenRow>(CLAIM, values)
        : this.#database.rows<TakenRow>(CLAIM_WITHIN, [...values, ...valuesOf(rooms)]);
    const rows = await this.#ledger.watch(claiming);
    this.#foundNothing = rows.length === 0;
    const usual = rows.filter((row) => row.seq !== null && !isSuspect(row));
    // By key, a lane could wait forever behind suspects of other lanes.
    const suspects = rows.filter(isSuspect).sort((a, b) => a.seq - b.seq);
    const admitted = await this.#besides(this.#suspects.decide(suspects, leaseMs));
    for (const { key, fence } of rows.filter(({ seq }) => seq === null)) {
      await this.#besides(this.#mend(key, fence));
    }
    const claims = (admitted === undefined ? usual : [admitted, ...usual]).map((row) => {
      return new HeadClaim({ lane: row.key, fence: row.fence, late: row.late }, row);
    });
    for (const claim of claims) this.#ledger.add(claim);
    return claims;
  }

  async extend(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    const lanes = claims.map(({ lane }) => lane);
    const fences = claims.map(({ fence }) => fence);
    const values = [this.#owner, lanes, fences, leaseMs];
    const rows = await this.#database.rows<Pick<Claim, "lane" | "fence">>(EXTEND, values);
    const held = new Set(rows.map(keyOf));
    for (const claim of claims) if (!held.has(keyOf(claim))) this.#ledger.forget(claim);
    return claims.filter((claim) => held.has(keyOf(claim)));
  }

  async nextReadyIn(): Promise<number | undefined> {
    const [row] = await this.#database.rows<{ readonly ms: number | null }>(NEXT_READY);
    return row?.ms == null ? undefined : Math.max(0, row.ms);
  }

  async heal(): Promise<number> {
    const remade = await this.#database.write(remakeLanes(""), []);
    return remade + (await this.#database.write(HEAL, []));
  }

  /**
   * Releases lanes that this process may hold without knowing. Must be called when no claim is in progress. Never
   * fails, and does not wait for a server that is down, because the leases expire.
   */
  async close(): Promise<void> {
    const { schema } = this.#database;
    const giving = this.#ledger.giveBackAtLast((lanes, fences) => {
      const values = [this.#owner, lanes, fences, schema];
      return this.#database.rowsWithin(AT_LAST_MS, GIVE_BACK_AT_LAST, values);
    });
    await giving.catch(() => undefined);
  }

  /** Runs secondary work. If it fails, the claims must not be lost. */
  async #besides<T>(work: Promise<T>): Promise<T | undefined> {
    return await this.#ledger.watch(work).catch(() => undefined);
  }

  async #mend(key: string, fence: number): Promise<void> {
    const owner = this.#owner;
    await this.#database.run(function* () {
      yield* query(LOCK, key);
      yield* query(MEND, key, owner, fence);
    });
  }
}

function valuesOf({ byType, others }: ClaimRooms): unknown[] {
  const full = [...byType].flatMap(([type, room]) => (room <= 0 ? [type] : []));
  return [full, [...byType.keys()], [...byType.values()], others];
}

function isSuspect(row: TakenRow): row is TakenRow & { readonly seq: number } {
  return row.seq !== null && row.suspect === true;
}

function keyOf({ lane, fence }: Pick<Claim, "lane" | "fence">): string {
  return `${fence} ${lane}`;
}
