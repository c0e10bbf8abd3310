import type { Advance, Claim } from "../inbox.ts";
import { type ClaimRow, toClaim } from "./claim-row.ts";
import type { Queries } from "./database.ts";
import { Gather } from "./gather.ts";
import { addRuns } from "./history.ts";
import { is, rowsOf } from "./sql.ts";
import { CRASHES } from "./suspects.ts";

/** Guards every write of a claim: it changes nothing once the lease is somebody else's. */
export const HELD = "key = $1 AND owner = $2 AND fence = $3";

/**
 * Several claims at once. Their lanes are locked in the order of their keys, so that two of these never
 * wait for each other, and each lane as it is then: a batch may have come in meanwhile. One after the other, by
 * their keys: the planner would else read all lanes for some hundred of them.
 */
const lockHeld = (columns: string) => `
sorted AS MATERIALIZED (SELECT * FROM input ORDER BY lane COLLATE "C"),
held AS MATERIALIZED (
  SELECT sorted.*, lane.* FROM sorted CROSS JOIN LATERAL (
    SELECT ${columns} FROM {schema}.lane
    WHERE key = sorted.lane AND owner = $1 AND fence = sorted.fence FOR UPDATE
  ) AS lane
)`;

/**
 * A lane that goes on keeps its lease. That changes none of its columns that are in an index, so it costs half of
 * letting it go and leasing it again. Whether its next event is there is seen as in the claim of lanes. Each part
 * hands all that it knows to the next one: to join what two parts found would take the square of their sizes.
 */
const end = (besides: string) => `
WITH input AS (
  ${rowsOf({ lane: "text", fence: "bigint", id: "text", attempt: "integer", error: "text", goes_on: "boolean" })}
), ${lockHeld("xmin AS version, done_ord")}, going AS MATERIALIZED (
  SELECT held.*, next.* FROM held LEFT JOIN LATERAL (
    SELECT head.* FROM {schema}.lane AS seen CROSS JOIN LATERAL (
      SELECT seq AS next_seq, id AS next_id, ord AS next_ord, type, body, source, received_at, attempts, crashes
      FROM {schema}.event WHERE lane = seen.key AND state = 'pending' AND id <> held.id
      ORDER BY ord, seq LIMIT 1
    ) AS head
    WHERE seen.key = held.lane AND seen.xmin = held.version AND held.goes_on AND head.crashes < ${CRASHES}
  ) AS next ON true
), ended AS (
  UPDATE {schema}.event SET done_at = {now}, error = going.error, attempts = going.attempt, fence = going.fence,
    state = CASE WHEN going.error IS NULL THEN 'done' ELSE 'dead' END
  FROM going WHERE event.id = going.id
  RETURNING going.*, greatest(going.done_ord, event.ord) AS last_ord
), advanced AS (
  UPDATE {schema}.lane SET pending = lane.pending - 1, done_ord = ended.last_ord,
    fence = lane.fence + ${is("ended.next_seq IS NOT NULL")},
    claimed = coalesce(ended.next_seq, lane.claimed),
    owner = CASE WHEN ended.next_seq IS NOT NULL THEN lane.owner END,
    done_at = CASE WHEN ended.next_seq IS NOT NULL THEN lane.done_at ELSE {now} END,
    ready_at = CASE WHEN ended.next_seq IS NOT NULL THEN lane.ready_at WHEN lane.pending > 1 THEN {now} END
  FROM ended WHERE lane.key = ended.lane
)${besides}
SELECT lane AS key, fence + 1 AS fence, next_id AS id, type, body, source, received_at,
  attempts + 1 AS attempts, crashes, coalesce(next_ord < last_ord, false) AS late
FROM ended`;

const COMPLETE = end("");

/** What has gone wrong is noted. Most rounds bury nothing, and need not have it planned. */
const COMPLETE_AND_BURY = end(`, buried AS (
  SELECT * FROM going WHERE error IS NOT NULL
), ${addRuns("buried", "dead")}`);

const EXTEND = `
WITH input AS (
  ${rowsOf({ lane: "text", fence: "bigint" })}
), ${lockHeld("key")}
UPDATE {schema}.lane SET ready_at = {now} + $4::bigint FROM held WHERE lane.key = held.lane
RETURNING lane.key AS lane, lane.fence`;

function putOff(outcome: "failed" | "released"): string {
  const change =
    outcome === "failed"
      ? "attempts = closed.attempt, error = closed.error"
      : "attempts = closed.attempt - 1";
  return `
WITH closed AS (
  UPDATE {schema}.lane SET owner = NULL, ready_at = {now} + $4::bigint WHERE ${HELD}
  RETURNING fence, $5::text AS id, $6::integer AS attempt, $7::text AS error
), returned AS (
  UPDATE {schema}.event SET fence = closed.fence, ${change} FROM closed WHERE event.id = closed.id
), ${addRuns("closed", outcome)}
SELECT id FROM closed`;
}

const RETRY = putOff("failed");
const RELEASE = putOff("released");

const NEXT_READY = `
SELECT min(ready_at) - {now} AS ms FROM {schema}.lane WHERE ready_at IS NOT NULL`;

/** What is found idle is looked at again under its lock: an event may have come in meanwhile. */
const HEAL = `
WITH stranded AS (
  SELECT lane.key, counted.n
  FROM (SELECT lane, count(*) AS n FROM {schema}.event WHERE state = 'pending' GROUP BY lane) AS counted
  JOIN {schema}.lane ON lane.key = counted.lane
  WHERE lane.ready_at IS NULL ORDER BY lane.key FOR UPDATE OF lane
)
UPDATE {schema}.lane SET ready_at = {now}, pending = stranded.n
FROM stranded WHERE lane.key = stranded.key RETURNING lane.key`;

/** So many outcomes are written by one statement at most. */
const MOST = 1_000;

interface Ending {
  readonly claim: Claim;
  readonly error: string | undefined;
  /** Whether the lane goes on with its next event. */
  readonly goesOn: boolean;
}

/** A claim whose lease held, and the next one of its lane; `fence` is the one that it has or would have. */
type EndedRow = ClaimRow | (Pick<ClaimRow, "key" | "fence"> & { readonly id: null });

interface HeldRow {
  readonly lane: string;
  readonly fence: number;
}

/** What becomes of the lanes that one process has leased. */
export class Lanes {
  readonly #queries: Queries;
  readonly #owner: string;
  readonly #endings: Gather<Ending, Advance>;

  constructor(queries: Queries, owner: string) {
    this.#queries = queries;
    this.#owner = owner;
    this.#endings = new Gather((endings) => this.#endAll(endings), MOST);
  }

  /** Ends the event as done, or as dead when there is an error, and lets the lane go. */
  async end(claim: Claim, error?: string): Promise<boolean> {
    return (await this.#endings.add({ claim, error, goesOn: false })).held;
  }

  /** Ends the event as done, and goes on with the next one of the lane. */
  advance(claim: Claim): Promise<Advance> {
    return this.#endings.add({ claim, error: undefined, goesOn: true });
  }

  async extend(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    const lanes = claims.map(({ lane }) => lane);
    const fences = claims.map(({ fence }) => fence);
    const rows = await this.#queries.rows<HeldRow>(EXTEND, [this.#owner, lanes, fences, leaseMs]);
    const held = new Set(rows.map(keyOf));
    return claims.filter((claim) => held.has(keyOf(claim)));
  }

  /** Leaves the event for later and closes its lane for that long. */
  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#putOff(RETRY, claim, delayMs, error);
  }

  /** Like `retry`, and gives the attempt back to the event. */
  release(claim: Claim, delayMs: number, error: string | undefined): Promise<boolean> {
    return this.#putOff(RELEASE, claim, delayMs, error);
  }

  async nextReadyIn(): Promise<number | undefined> {
    const [row] = await this.#queries.rows<{ readonly ms: number | null }>(NEXT_READY);
    return row?.ms == null ? undefined : Math.max(0, row.ms);
  }

  async heal(): Promise<number> {
    return (await this.#queries.rows(HEAL)).length;
  }

  async #putOff(
    statement: string,
    { lane, fence, id, attempt }: Claim,
    delayMs: number,
    error: string | undefined,
  ): Promise<boolean> {
    const values = [lane, this.#owner, fence, delayMs, id, attempt, error ?? null];
    return (await this.#queries.rows(statement, values)).length > 0;
  }

  async #endAll(endings: readonly Ending[]): Promise<Advance[]> {
    // A result that is given twice is taken once.
    const first = new Map(endings.toReversed().map((ending) => [keyOf(ending.claim), ending]));
    const once = [...first.values()];
    const buries = once.some(({ error }) => error !== undefined);
    const statement = buries ? COMPLETE_AND_BURY : COMPLETE;
    const rows = await this.#queries.rows<EndedRow>(statement, [
      this.#owner,
      once.map(({ claim }) => claim.lane),
      once.map(({ claim }) => claim.fence),
      once.map(({ claim }) => claim.id),
      once.map(({ claim }) => claim.attempt),
      once.map(({ error }) => error ?? null),
      once.map(({ goesOn }) => goesOn),
    ]);
    const ended = new Map(rows.map((row) => [`${row.fence - 1} ${row.key}`, row]));
    return endings.map((ending) => {
      const key = keyOf(ending.claim);
      const row = first.get(key) === ending ? ended.get(key) : undefined;
      if (row === undefined) return LOST;
      return { held: true, next: row.id === null ? undefined : toClaim(row) };
    });
  }
}

const LOST: Advance = { held: false };

function keyOf({ lane, fence }: HeldRow): string {
  return `${fence} ${lane}`;
}
