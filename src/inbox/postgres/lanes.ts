import type { Claim } from "../inbox.ts";
import type { Queries } from "./database.ts";
import { Gather } from "./gather.ts";
import { addRuns } from "./history.ts";

/** Guards every write of a claim: it changes nothing once the lease is somebody else's. */
export const HELD = "key = $1 AND owner = $2 AND fence = $3";

/**
 * Several claims at once. Their lanes are locked in the order of their keys, so that two of these never
 * wait for each other, and each lane as it is then: a batch may have come in meanwhile.
 */
const LOCK_HELD = `
held AS MATERIALIZED (
  SELECT input.* FROM input JOIN {schema}.lane ON lane.key = input.lane
  WHERE lane.owner = $1 AND lane.fence = input.fence ORDER BY lane.key FOR UPDATE OF lane
)`;

const END = `
WITH input AS (
  SELECT * FROM unnest($2::text[], $3::bigint[], $4::text[], $5::integer[], $6::text[])
    AS input (lane, fence, id, attempt, error)
), ${LOCK_HELD}, ended AS (
  UPDATE {schema}.event SET done_at = {now}, error = held.error, attempts = held.attempt, fence = held.fence,
    state = CASE WHEN held.error IS NULL THEN 'done' ELSE 'dead' END
  FROM held WHERE event.id = held.id RETURNING event.lane, event.ord
), advanced AS (
  UPDATE {schema}.lane SET pending = lane.pending - 1, owner = NULL, done_at = {now},
    ready_at = CASE WHEN lane.pending > 1 THEN {now} END,
    done_ord = greatest(lane.done_ord, ended.ord)
  FROM ended WHERE lane.key = ended.lane
), buried AS (
  SELECT * FROM held WHERE error IS NOT NULL
), ${addRuns("buried", "dead")}
SELECT lane, fence FROM held`;

const EXTEND = `
WITH input AS (
  SELECT * FROM unnest($2::text[], $3::bigint[]) AS input (lane, fence)
), ${LOCK_HELD}
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
const MOST = 500;

interface Ending {
  readonly claim: Claim;
  readonly error: string | undefined;
}

interface HeldRow {
  readonly lane: string;
  readonly fence: number;
}

/** What becomes of the lanes that one process has leased. */
export class Lanes {
  readonly #queries: Queries;
  readonly #owner: string;
  readonly #endings: Gather<Ending, boolean>;

  constructor(queries: Queries, owner: string) {
    this.#queries = queries;
    this.#owner = owner;
    this.#endings = new Gather((endings) => this.#endAll(endings), MOST);
  }

  /** Ends the event as done, or as dead when there is an error, and lets the lane go on. */
  end(claim: Claim, error?: string): Promise<boolean> {
    return this.#endings.add({ claim, error });
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

  async #endAll(endings: readonly Ending[]): Promise<boolean[]> {
    // A result that is given twice is taken once.
    const first = new Map(endings.toReversed().map((ending) => [keyOf(ending.claim), ending]));
    const once = [...first.values()];
    const rows = await this.#queries.rows<HeldRow>(END, [
      this.#owner,
      once.map(({ claim }) => claim.lane),
      once.map(({ claim }) => claim.fence),
      once.map(({ claim }) => claim.id),
      once.map(({ claim }) => claim.attempt),
      once.map(({ error }) => error ?? null),
    ]);
    const held = new Set(rows.map(keyOf));
    return endings.map((ending) => {
      const key = keyOf(ending.claim);
      return held.has(key) && first.get(key) === ending;
    });
  }
}

function keyOf({ lane, fence }: HeldRow): string {
  return `${fence} ${lane}`;
}
