import type { Claim } from "../inbox.ts";
import type { Database } from "./database.ts";
import { ADD_CRASHES } from "./history.ts";
import { CRASHES, SUSPECT_WAIT_MS, Suspects } from "./suspects.ts";

/** 1 where the condition holds, else 0. */
const is = (condition: string) => `coalesce(${condition}, false)::integer`;

/**
 * Leases lanes with the first event of each, in one statement, and writes the lanes alone: the attempt that
 * begins is counted on the event when it ends. A lane that still has an owner although its time has come has
 * lost its run without a word: the process was gone, or stood still. That attempt is counted here.
 *
 * The first part is materialized, for the planner could else lock more lanes than the limit. The statement
 * sees the events as they were when it began; locking them has it look again, so that none is taken that
 * has ended since. Where none is left the lane is mended afterwards. An event that may be what ends the
 * process gets no owner here, and nobody else takes its lane for as long as a lease; whether it may run is
 * decided apart.
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
    ready_at = {now} + CASE WHEN head.suspect THEN greatest($3::bigint, ${SUSPECT_WAIT_MS}) ELSE $3::bigint END
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

/**
 * Gives back what this process holds without knowing of it: the lanes of a claim whose answer never came.
 * Their events have not run, and without an owner no attempt is counted.
 */
const GIVE_BACK = `
WITH lost AS MATERIALIZED (
  SELECT key FROM {schema}.lane WHERE owner = $1 AND ready_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest($2::text[], $3::bigint[]) AS known (key, fence)
    WHERE known.key = lane.key AND known.fence = lane.fence)
  ORDER BY key FOR UPDATE
)
UPDATE {schema}.lane SET owner = NULL, ready_at = {now} FROM lost WHERE lane.key = lost.key`;

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
  readonly #suspects: Suspects;
  /** The fences of the lanes that this process knows to be its own. */
  readonly #held = new Map<string, number>();
  #foundNothing = false;
  /** True after a claim whose answer never came. */
  #uncertain = false;

  constructor(database: Database, owner: string) {
    this.#database = database;
    this.#owner = owner;
    this.#suspects = new Suspects(database, owner);
  }

  /** True when no lane was ready, or somebody else had them all, when it was last asked. */
  get foundNothing(): boolean {
    return this.#foundNothing;
  }

  async claim(limit: number, leaseMs: number): Promise<Claim[]> {
    await this.#giveBack();
    this.#uncertain = true;
    const rows = await this.#database.rows<ClaimRow>(CLAIM, [limit, this.#owner, leaseMs]);
    this.#uncertain = false;
    this.#foundNothing = rows.length === 0;
    const usual = rows.filter((row) => row.seq !== null && !isSuspect(row));
    const admitted = await this.#besides(this.#suspects.decide(rows.filter(isSuspect), leaseMs));
    for (const { key, fence } of rows.filter(({ seq }) => seq === null)) {
      await this.#besides(this.#mend(key, fence));
    }
    const claims = (admitted === undefined ? usual : [admitted, ...usual]).map(toClaim);
    for (const { lane, fence } of claims) this.#held.set(lane, fence);
    return claims;
  }

  /** To be told of each claim that is ended or put off, or was lost. */
  forget({ lane, fence }: Claim): void {
    if (this.#held.get(lane) === fence) this.#held.delete(lane);
  }

  async #giveBack(): Promise<void> {
    if (!this.#uncertain) return;
    const known = [[...this.#held.keys()], [...this.#held.values()]];
    await this.#database.rows(GIVE_BACK, [this.#owner, ...known]);
  }

  /** What fails beside a claim must not take along what was claimed. */
  async #besides<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch {
      this.#uncertain = true;
      return undefined;
    }
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
