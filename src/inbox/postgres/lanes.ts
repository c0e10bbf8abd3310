import type { Claim } from "../inbox.ts";
import type { Queries } from "./database.ts";
import { addRuns } from "./history.ts";
import { lockHeld, rowsOf } from "./sql.ts";

/** Guards every write of a claim: it changes nothing once the lease is somebody else's. */
export const HELD = "key = $1 AND owner = $2 AND fence = $3";

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

/** What has not begun is as it was before its claim: the attempt is counted on the event when it ends. */
const HAND_BACK = `
UPDATE {schema}.lane SET owner = NULL, ready_at = {now} + $4::bigint WHERE ${HELD} RETURNING key`;

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

/**
 * Makes the lanes that pending events have lost, as by an operator's DELETE or a restore of a part; given keys alone, or
 * all with NULL. Fences go on after those of the events.
 */
export const REMAKE = `
INSERT INTO {schema}.lane (key, pending, ready_at, fence)
SELECT event.lane, count(*), {now}, max(event.fence) + 1 FROM {schema}.event
WHERE state = 'pending' AND ($1::text[] IS NULL OR event.lane = ANY ($1::text[]))
  AND NOT EXISTS (SELECT FROM {schema}.lane WHERE lane.key = event.lane)
GROUP BY event.lane ORDER BY event.lane COLLATE "C"
ON CONFLICT (key) DO NOTHING RETURNING key`;

interface HeldRow {
  readonly lane: string;
  readonly fence: number;
}

/** What becomes of the lanes that one process has leased. */
export class Lanes {
  readonly #queries: Queries;
  readonly #owner: string;

  constructor(queries: Queries, owner: string) {
    this.#queries = queries;
    this.#owner = owner;
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

  /** Like `retry`, and gives the attempt back to the event. Without an error it has not begun. */
  async release(claim: Claim, delayMs: number, error: string | undefined): Promise<boolean> {
    if (error !== undefined) return await this.#putOff(RELEASE, claim, delayMs, error);
    const { lane, fence } = claim;
    const values = [lane, this.#owner, fence, delayMs];
    return (await this.#queries.rows(HAND_BACK, values)).length > 0;
  }

  async nextReadyIn(): Promise<number | undefined> {
    const [row] = await this.#queries.rows<{ readonly ms: number | null }>(NEXT_READY);
    return row?.ms == null ? undefined : Math.max(0, row.ms);
  }

  async heal(): Promise<number> {
    const remade = await this.#queries.rows(REMAKE, [null]);
    return remade.length + (await this.#queries.rows(HEAL)).length;
  }

  async #putOff(
    statement: string,
    { lane, fence, id, attempt }: Claim,
    delayMs: number,
    error: string,
  ): Promise<boolean> {
    const values = [lane, this.#owner, fence, delayMs, id, attempt, error];
    return (await this.#queries.rows(statement, values)).length > 0;
  }
}

function keyOf({ lane, fence }: HeldRow): string {
  return `${fence} ${lane}`;
}
