import type { Claim } from "../inbox.ts";
import type { Database } from "./database.ts";
import { ADD_CRASHES } from "./history.ts";

/** An event whose runs have ended with the process so often may be what ends it. */
const CRASHES = 2;

/** 1 where the condition holds, else 0. */
const is = (condition: string) => `coalesce(${condition}, false)::integer`;

/** A lane whose event has to wait for another one is looked at again after this, in milliseconds. */
const SUSPECT_WAIT_MS = 200;

/**
 * Leases lanes with the first event of each, in one statement, and writes the lanes alone: the attempt that
 * begins is counted on the event when it ends. A lane that still has an owner although its time has come has
 * lost its run without a word: the process was gone, or stood still. That attempt is counted here.
 *
 * The first part is materialized, for the planner could else lock more lanes than the limit. The statement
 * sees the events as they were when it began; locking them has it look again, so that none is taken that
 * has ended since. Where none is left the lane is mended afterwards. An event that may be what ends the
 * process is put off here; whether it may run is decided apart.
 */
const CLAIM = `
WITH ready AS MATERIALIZED (
  SELECT key, fence, owner, claimed, done_ord FROM {schema}.lane WHERE ready_at <= {now}
  ORDER BY ready_at, key LIMIT $1 FOR UPDATE SKIP LOCKED
), head AS MATERIALIZED (
  SELECT ready.*, event.*, event.crashes + event.lapsed >= ${CRASHES} AS suspect
  FROM ready LEFT JOIN LATERAL (
    SELECT seq, id, ord, type, body, source, received_at, attempts, crashes,
      ${is("ready.owner IS NOT NULL AND ready.claimed = seq")} AS uncounted,
      ${is("ready.owner IS NOT NULL AND (ready.claimed = seq OR ready.fence = event.fence)")} AS lapsed
    FROM {schema}.event WHERE lane = ready.key AND state = 'pending'
    ORDER BY ord, seq LIMIT 1 FOR NO KEY UPDATE
  ) AS event ON true
), leased AS (
  UPDATE {schema}.lane SET fence = head.fence + 1, claimed = head.seq,
    owner = CASE WHEN head.suspect THEN NULL ELSE $2::text END,
    ready_at = {now} + CASE WHEN head.suspect THEN ${SUSPECT_WAIT_MS} ELSE $3::bigint END
  FROM head WHERE lane.key = head.key AND head.seq IS NOT NULL
), counted AS (
  UPDATE {schema}.event SET fence = head.fence, crashes = event.crashes + head.lapsed,
    attempts = event.attempts + ${is("head.claimed = event.seq")}
  FROM head WHERE head.owner IS NOT NULL AND event.state = 'pending'
    AND event.seq = CASE WHEN head.lapsed = 1 THEN head.seq ELSE head.claimed END
), crashed AS (${ADD_CRASHES})
SELECT key, fence + 1 AS fence, suspect, seq, id, type, body, source, attempts + uncounted + 1 AS attempts,
  crashes + lapsed AS crashes, received_at, coalesce(ord < done_ord, false) AS late
FROM head ORDER BY key`;

/** The lane is locked first, so that nobody changes what is counted then. */
const LOCK = "SELECT key FROM {schema}.lane WHERE key = $1 FOR UPDATE";

/** Of a lane that was taken without an event: what it is said to hold is counted anew. */
const MEND = `
UPDATE {schema}.lane SET pending = real.n, owner = NULL, done_at = coalesce(done_at, {now}),
  ready_at = CASE WHEN real.n > 0 THEN {now} END
FROM (SELECT count(*) AS n FROM {schema}.event WHERE lane = $1 AND state = 'pending') AS real
WHERE key = $1 AND (ready_at <= {now} OR (owner = $2 AND fence = $3))`;

/** Whoever holds this row decides; who comes meanwhile tries again a little later. */
const GATE = "SELECT lane, fence FROM {schema}.suspect FOR UPDATE SKIP LOCKED";

const RUNS = "SELECT 1 FROM {schema}.lane WHERE key = $1 AND fence = $2 AND owner IS NOT NULL";

const ADMIT = `
WITH leased AS (
  UPDATE {schema}.lane SET owner = $3, ready_at = {now} + $4::bigint
  WHERE key = $1 AND fence = $2 AND owner IS NULL RETURNING key
), marked AS (
  UPDATE {schema}.suspect SET lane = $1, fence = $2 FROM leased
)
SELECT attempts + 1 AS attempts FROM leased CROSS JOIN {schema}.event
WHERE seq = $5 AND state = 'pending' FOR NO KEY UPDATE OF event`;

/** A lane that was taken, with its first event; without one where that had ended in the same moment. */
interface ClaimRow {
  readonly key: string;
  readonly fence: number;
  readonly seq: number | null;
  readonly suspect: boolean | null;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Claim["source"];
  readonly attempts: number;
  readonly crashes: number;
  readonly received_at: number;
  readonly late: boolean;
}

/** Takes lanes for one process. */
export class Claims {
  readonly #database: Database;
  readonly #owner: string;
  #foundNothing = false;

  constructor(database: Database, owner: string) {
    this.#database = database;
    this.#owner = owner;
  }

  /** True when no lane was ready, or somebody else had them all, when it was last asked. */
  get foundNothing(): boolean {
    return this.#foundNothing;
  }

  async claim(limit: number, leaseMs: number): Promise<Claim[]> {
    const values = [limit, this.#owner, leaseMs];
    const rows = await this.#database.rows<ClaimRow>(CLAIM, values);
    this.#foundNothing = rows.length === 0;
    const admitted = await this.#admitOne(rows.filter(isSuspect), leaseMs);
    for (const { key, fence } of rows.filter(({ seq }) => seq === null)) {
      await this.#mend(key, fence);
    }
    const usual = rows.filter((row) => row.seq !== null && !isSuspect(row));
    const claimed = admitted === undefined ? usual : [admitted, ...usual];
    return claimed.map(toClaim);
  }

  /**
   * Events that may be what takes the process down run one after the other, over all instances: nobody can
   * tell the guilty one from those that merely ran at the same time.
   */
  async #admitOne([row]: readonly ClaimRow[], leaseMs: number): Promise<ClaimRow | undefined> {
    if (row === undefined) return undefined;
    return await this.#database.transaction(async (queries) => {
      const [gate] = await queries.rows<{ lane: string | null; fence: number | null }>(GATE);
      if (gate === undefined) return undefined;
      const running = await queries.rows(RUNS, [gate.lane, gate.fence]);
      if (running.length > 0) return undefined;
      const values = [row.key, row.fence, this.#owner, leaseMs, row.seq];
      const [counted] = await queries.rows<{ readonly attempts: number }>(ADMIT, values);
      return counted && { ...row, attempts: counted.attempts };
    });
  }

  async #mend(key: string, fence: number): Promise<void> {
    await this.#database.transaction(async (queries) => {
      await queries.rows(LOCK, [key]);
      await queries.rows(MEND, [key, this.#owner, fence]);
    });
  }
}

function isSuspect({ seq, suspect }: ClaimRow): boolean {
  return seq !== null && suspect === true;
}

function toClaim(row: ClaimRow): Claim {
  return {
    lane: row.key,
    fence: row.fence,
    id: row.id,
    type: row.type,
    body: row.body,
    source: row.source,
    attempt: row.attempts,
    crashes: row.crashes,
    late: row.late,
    receivedAt: row.received_at,
  };
}
