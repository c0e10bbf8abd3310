import { EVENT_LOG } from "../../inbox.ts";
import type { InstanceDetails, InstanceReport, LeaderReport, SharedReport } from "../../shared.ts";
import type { Queries } from "../database.ts";
import { dialect } from "../store.ts";

/** An instance counts as gone after so long without a sign of life, in milliseconds. */
export const ALIVE_MS = 15_000;

/**
 * Of an instance that gave a sign of life lately. One from far ahead is from before the database's clock was set back,
 * as where another server takes over, and tells nothing; whoever is there gives another one soon.
 */
export const ALIVE: string = `seen_at > {now} - ${ALIVE_MS} AND seen_at <= {now} + ${ALIVE_MS}`;

/** It is forgotten after this, in milliseconds. */
const FORGOTTEN_MS = 3_600_000;

const BEAT = `
WITH forgotten AS (
  DELETE FROM {schema}.instance WHERE id IN (
    SELECT id FROM {schema}.instance WHERE seen_at < {now} - ${FORGOTTEN_MS} FOR UPDATE SKIP LOCKED)
), seen AS (
  INSERT INTO {schema}.instance (id, host, pid, version, started_at, seen_at, delivered_at)
  VALUES ($1, $2, $3, $4, {now}, {now}, {now} - $5::bigint)
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, delivered_at = excluded.delivered_at
)
SELECT count(*) + 1 AS n FROM {schema}.instance WHERE id <> $1 AND ${ALIVE}`;

const LEAVE = "DELETE FROM {schema}.instance WHERE id = $1";

const INSTANCES = `
SELECT id, host, pid, version, {now} - started_at AS "startedMsAgo", {now} - seen_at AS "seenMsAgo",
  {now} - delivered_at AS "deliveredMsAgo"
FROM {schema}.instance WHERE ${ALIVE} ORDER BY started_at, id`;

const LEADER = `
SELECT CASE WHEN expires_at > {now} THEN holder END AS holder, term,
  greatest(0, expires_at - {now}) AS "expiresInMs"
FROM {schema}.leader WHERE name = $1`;

/** How many fit that have ended within the last minute, as one of the indexes has them. */
const lately = (where: string) =>
  `(SELECT count(*) FROM {schema}.event WHERE ${where} AND done_at > {now} - 60000)`;

const ENDED = `SELECT ${dialect.indexes.ended.map(lately).join(" + ")} AS n`;

interface InstanceRow extends Omit<InstanceReport, "deliveredMsAgo"> {
  readonly deliveredMsAgo: number | null;
}

interface LeaderRow extends Omit<LeaderReport, "holder"> {
  readonly holder: string | null;
}

/** Says that an instance is there. */
export class Instances {
  readonly #queries: Queries;
  readonly #id: string;

  constructor(queries: Queries, id: string) {
    this.#queries = queries;
    this.#id = id;
  }

  async beat(details: InstanceDetails, deliveredMsAgo: number | undefined): Promise<number> {
    const { host, pid, version } = details;
    const values = [this.#id, host, pid, version, deliveredMsAgo ?? null];
    const [row] = await this.#queries.rows<{ readonly n: number }>(BEAT, values);
    return row?.n ?? 1;
  }

  async leave(): Promise<void> {
    await this.#queries.rows(LEAVE, [this.#id]);
  }
}

/** Who is there, and what they do together. */
export async function readSharedReport(queries: Queries): Promise<SharedReport> {
  const instances = await queries.rows<InstanceRow>(INSTANCES);
  const [poller] = await queries.rows<LeaderRow>(LEADER, [EVENT_LOG]);
  const [recent] = await queries.rows<{ readonly n: number }>(ENDED);
  return {
    instances: instances.map((instance) => ({
      ...instance,
      deliveredMsAgo: instance.deliveredMsAgo ?? undefined,
    })),
    poller: poller && { ...poller, holder: poller.holder ?? undefined },
    endedLastMinute: recent?.n ?? 0,
  };
}
