import { type Place, sessionAt } from "./open.ts";

/** Waits until this many sessions are blocked, then commits or rolls back. */
export interface Free {
  (waiting: number, end?: "ROLLBACK" | "COMMIT"): Promise<void>;
  /** Waits until this many sessions are blocked, but keeps the lock. */
  waiting(waiting: number): Promise<void>;
}

/** Runs a statement, and holds its locks until the test frees them. */
export async function hold(place: Place, sql: string): Promise<Free> {
  const client = await sessionAt(place);
  await client.query(`BEGIN; ${sql}`);
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  const waiting = async (number: number) => {
    for (let n = 0; n < number; ) {
      // Count the sessions that this session blocks, even indirectly. Without a fresh snapshot, pg_stat_activity would
      // return its first result again.
      const blocked = await client.query(
        `WITH RECURSIVE waiting AS MATERIALIZED (
           SELECT DISTINCT pid FROM pg_locks WHERE NOT granted
         ), waits AS (
           SELECT pid FROM waiting WHERE $1 = ANY (pg_blocking_pids(pid))
           UNION
           SELECT later.pid FROM waiting AS later JOIN waits ON waits.pid = ANY (pg_blocking_pids(later.pid))
         ) SELECT pid FROM waits`,
        [rows[0]?.pid],
      );
      n = blocked.rows.length;
    }
  };
  const free = async (number: number, end = "ROLLBACK") => {
    await waiting(number);
    await client.query(end);
  };
  return Object.assign(free, { waiting });
}
