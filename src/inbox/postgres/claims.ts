import type { Claim, ClaimRooms } from "../inbox.ts";
import { CRASHES, SUSPECT_WAIT_MS } from "../limits.ts";
import { type ClaimRow, toClaim } from "./claim-row.ts";
import type { Database } from "./database.ts";
import type { Held } from "./held.ts";
import { ADD_CRASHES } from "./history.ts";
import { is } from "./sql.ts";
import { Suspects } from "./suspects.ts";

/**
 * Leases lanes with the first event of each, in one statement, and writes the lanes alone: the attempt that
 * begins is counted on the event when it ends. A lane that still has an owner although its time has come has
 * lost its run without a word: the process was gone, or stood still. That attempt is counted here.
 *
 * The first part is materialized, for the planner could else lock more lanes than the limit. The statement
 * sees the events as they were when it began, and the lanes as they are when they are locked. What a lane holds
 * is changed together with its row, so one whose row has not changed in between holds what is seen; any other is
 * left for the next time. A lane that holds nothing is mended afterwards. An event that may be what ends the
 * process gets no owner here, and nobody else takes its lane for as long as a lease; whether it may run is
 * decided apart.
 *
 * @param where further conditions on the lanes
 * @param choice the name of the lanes that were found; other than `head` with a part of its own that makes `head` of them
 */
const claimStatement = (where: string, choice: { readonly of: string; readonly part: string }) => `
WITH ready AS MATERIALIZED (
  SELECT key, fence, owner, claimed, done_ord, ready_at, ctid AS at FROM {schema}.lane
  WHERE ready_at <= {now} ${where} ORDER BY ready_at, key LIMIT $1 FOR UPDATE SKIP LOCKED
), ${choice.of} AS MATERIALIZED (
  SELECT ready.*, event.*, event.crashes + event.lapsed >= ${CRASHES} AS suspect
  FROM ready CROSS JOIN LATERAL (SELECT FROM {schema}.lane WHERE ctid = ready.at OFFSET 0) AS unchanged
  LEFT JOIN LATERAL (
    SELECT seq, id, ord, type, body, source, received_at, trace, attempts, crashes,
      ${is("ready.owner IS NOT NULL AND ready.claimed = seq")} AS uncounted,
      ${is("ready.owner IS NOT NULL AND (ready.claimed = seq OR ready.fence = event.fence)")} AS lapsed
    FROM {schema}.event WHERE lane = ready.key AND state = 'pending'
    ORDER BY ord, seq LIMIT 1
  ) AS event ON true
)${choice.part}, leased AS (
  UPDATE {schema}.lane SET fence = head.fence + 1, claimed = head.seq,
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
SELECT key, fence + 1 AS fence, suspect, seq, id, type, body, source, attempts + uncounted + 1 AS attempts,
  crashes + lapsed AS crashes, received_at, trace, coalesce(ord < done_ord, false) AS late
FROM head ORDER BY key`;

const CLAIM = claimStatement("", { of: "head", part: "" });

/**
 * The same within rooms: lanes whose first event is of a type without room are not locked, and of those that are
 * locked only as many of each type are leased as there is room for. The others are free again with the commit.
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
 * Their events have not run, and without an owner no attempt is counted. A lane without a fence is about to
 * get another one. A lane that somebody holds locked is left for the next time: it must not hold up the others.
 */
const GIVE_BACK = `
WITH lost AS MATERIALIZED (
  SELECT key FROM {schema}.lane WHERE owner = $1 AND ready_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM unnest($2::text[], $3::bigint[]) AS known (key, fence)
    WHERE known.key = lane.key AND coalesce(known.fence, lane.fence) = lane.fence)
  ORDER BY key FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.lane SET owner = NULL, ready_at = {now} FROM lost WHERE lane.key = lost.key`;

/** The same at the end of the process, which tells the others. */
const GIVE_BACK_AT_LAST = `
WITH given AS (${GIVE_BACK} RETURNING lane.key)
SELECT pg_notify($4, $1) FROM (SELECT FROM given LIMIT 1) AS one`;

/** A lane that was taken, with its first event; without one where that had ended in the same moment. */
interface TakenRow extends ClaimRow {
  readonly seq: number | null;
  readonly suspect: boolean | null;
}

/** A process that ends waits so long for a connection, and for the answer, in milliseconds. */
const AT_LAST_MS = 1_000;

/** So many lanes are leased by one statement at most: the first ones can begin while others are leased. */
const MOST = 500;

/** Takes lanes for one process. */
export class Claims {
  readonly #database: Database;
  readonly #owner: string;
  readonly #suspects: Suspects;
  readonly #held: Held;
  #foundNothing = false;

  constructor(database: Database, owner: string, held: Held) {
    this.#database = database;
    this.#owner = owner;
    this.#held = held;
    this.#suspects = new Suspects(database, owner);
  }

  /** True when no lane was ready, or somebody else had them all, when it was last asked. */
  get foundNothing(): boolean {
    return this.#foundNothing;
  }

  async claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<Claim[]> {
    await this.#held.giveBack(leaseMs, (lanes, fences) =>
      this.#database.rows(GIVE_BACK, [this.#owner, lanes, fences]),
    );
    const values = [Math.min(limit, MOST), this.#owner, leaseMs];
    const claiming =
      rooms === undefined
        ? this.#database.rows<TakenRow>(CLAIM, values)
        : this.#database.rows<TakenRow>(CLAIM_WITHIN, [...values, ...valuesOf(rooms)]);
    const rows = await this.#held.watch(claiming);
    this.#foundNothing = rows.length === 0;
    const usual = rows.filter((row) => row.seq !== null && !isSuspect(row));
    const admitted = await this.#besides(this.#suspects.decide(rows.filter(isSuspect), leaseMs));
    for (const { key, fence } of rows.filter(({ seq }) => seq === null)) {
      await this.#besides(this.#mend(key, fence));
    }
    const claims = (admitted === undefined ? usual : [admitted, ...usual]).map(toClaim);
    for (const claim of claims) this.#held.add(claim);
    return claims;
  }

  /**
   * Gives back what this process may hold without knowing of it, once nothing is under way any more. It never
   * fails, and a server that is away does not hold it up: then the leases run out.
   */
  async close(): Promise<void> {
    const { schema } = this.#database;
    const giving = this.#held.giveBackAtLast((lanes, fences) => {
      const values = [this.#owner, lanes, fences, schema];
      return this.#database.rowsWithin(AT_LAST_MS, GIVE_BACK_AT_LAST, values);
    });
    await giving.catch(() => undefined);
  }

  /** What fails beside a claim must not take along what was claimed. */
  async #besides<T>(work: Promise<T>): Promise<T | undefined> {
    return await this.#held.watch(work).catch(() => undefined);
  }

  async #mend(key: string, fence: number): Promise<void> {
    await this.#database.transaction(async (queries) => {
      await queries.rows(LOCK, [key]);
      await queries.rows(MEND, [key, this.#owner, fence]);
    });
  }
}

function valuesOf({ byType, others }: ClaimRooms): unknown[] {
  const full = [...byType].flatMap(([type, room]) => (room <= 0 ? [type] : []));
  return [full, [...byType.keys()], [...byType.values()], others];
}

function isSuspect({ seq, suspect }: TakenRow): boolean {
  return seq !== null && suspect === true;
}
