import type { Clock } from "../../core/clock.ts";
import { SUSPECT_CRASHES } from "../sql/sql-inbox.ts";
import type { Database } from "./database.ts";
import type { Client } from "./driver.ts";

/** Condition that a lock is the presence lock. `$1` is the schema. */
const IS_PRESENCE = `
  locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1936876643
  AND objid = (hashtext($1)::bigint & 4294967295)::oid
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Counts the holders of the presence lock. */
export const PROCESSES: string = `SELECT count(*) AS n FROM pg_locks WHERE ${IS_PRESENCE}`;

/** Start of the server. A restart ends all sessions at once, so it proves nothing about their processes. */
const SERVER_START = "extract(epoch FROM pg_postmaster_start_time())::text";

/** Name of this session. */
const SESSION = `pg_backend_pid() || ' ' || ${SERVER_START}`;

/**
 * Takes the presence lock, and returns the session's name. Each process with an open inbox holds the lock for as long
 * as its session exists.
 */
export const PRESENT: string = `SELECT pg_advisory_lock_shared(1936876643, hashtext($1)), ${SESSION} AS session`;

/** Names of the sessions that hold the presence lock. Read only if an instance is to be compared with them. */
const SESSIONS = `SELECT pid || ' ' || ${SERVER_START} FROM pg_locks WHERE ${IS_PRESENCE}`;

/** Registers this session, and finds the other instances whose sessions have ended. */
const lookIn = (schema: string) => `
WITH registered AS (
  UPDATE "${schema}".instance SET session = ${SESSION} WHERE id = $2 AND session IS DISTINCT FROM ${SESSION}
)
SELECT id, session FROM "${schema}".instance
WHERE id <> $2 AND split_part(session, ' ', 2) = ${SERVER_START} AND session <> ALL (${SESSIONS})`;

const UNREGISTER = "UPDATE {schema}.instance SET session = NULL WHERE id = $1 AND session = $2";

/**
 * Condition for lanes that were closed for a decision about a suspect, by any instance. No run has ended with the
 * lane's fence, unlike in a lane that waits for a retry.
 */
const IS_UNDECIDED = `
  lane.owner IS NULL AND EXISTS (
    SELECT FROM {schema}.event
    WHERE seq = lane.claimed AND state = 'pending' AND crashes >= ${SUSPECT_CRASHES} AND fence < lane.fence)`;

/**
 * Frees the leases of an instance whose session has ended. Lanes keep their owner, so that the next claim counts the
 * run as a crash. The instance may have been deciding which suspect runs, so these decisions are made again.
 */
const FREE = `
WITH ended AS (
  DELETE FROM {schema}.instance WHERE id = $1 AND session = $2 RETURNING id
), leased AS MATERIALIZED (
  SELECT lane.key FROM {schema}.lane JOIN ended ON lane.owner = ended.id OR (${IS_UNDECIDED})
  WHERE lane.ready_at > {now} ORDER BY lane.key FOR UPDATE OF lane
), freed AS (
  UPDATE {schema}.lane SET ready_at = {now} FROM leased WHERE lane.key = leased.key
), resigned AS (
  UPDATE {schema}.leader SET expires_at = {now} FROM ended WHERE holder = ended.id AND expires_at > {now}
)
SELECT id FROM ended`;

/**
 * Time in ms during which an instance that has lost its session frees no leases. The other instances may have lost
 * theirs at the same time, and may need several attempts to connect again.
 */
const RECONNECTING_MS = 10_000;

interface Ended {
  readonly id: string;
  readonly session: string;
}

export interface SessionsOptions {
  readonly database: Database;
  /** Id of this instance. */
  readonly id: string;
  readonly clock: Clock;
  /** Called after the leases of another instance have been freed. */
  readonly onFreed: () => void;
}

/**
 * Frees the leases of instances whose processes have ended. The server ends the session of such a process within
 * milliseconds, but a lease lasts for half a minute. A suspended process keeps its session, and therefore its leases.
 *
 * A running instance may lose its session too. It then connects again at once, or unregisters the session. Therefore an
 * instance is taken for dead only if its session is missing in two looks in a row.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  /** Sessions that were missing in the last look. */
  #missing: ReadonlySet<string> = new Set();
  #freesFrom = Number.NEGATIVE_INFINITY;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Registers this instance's session unless it is registered already. */
  async register(client: Client): Promise<void> {
    await this.#look(client);
  }

  /** Must be called at intervals in which an instance can connect again. */
  async look(client: Client): Promise<void> {
    const ended = await this.#look(client);
    if (this.#options.clock.now() < this.#freesFrom) return;
    const before = this.#missing;
    this.#missing = new Set(ended.map(({ session }) => session));
    for (const one of ended) if (before.has(one.session)) await this.#free(one);
  }

  /** Must be called when this instance's session is lost, and again while the instance cannot connect. Never fails. */
  async lost(session: string): Promise<void> {
    const { database, clock, id } = this.#options;
    this.#freesFrom = clock.now() + RECONNECTING_MS;
    await database.rows(UNREGISTER, [id, session]).catch(() => undefined);
  }

  async #look(client: Client): Promise<readonly Ended[]> {
    const { id } = this.#options;
    const { schema } = this.#options.database;
    const { rows } = await client.query(lookIn(schema), [schema, id]);
    return rows.map((row) => ({ id: String(row["id"]), session: String(row["session"]) }));
  }

  /** Never fails, because the next look tries again. */
  async #free({ id, session }: Ended): Promise<void> {
    const { database, onFreed } = this.#options;
    const freed = await database.rows(FREE, [id, session]).catch(() => []);
    if (freed.length > 0) onFreed();
  }
}
