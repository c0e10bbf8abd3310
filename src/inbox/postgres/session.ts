import type { Client } from "./driver.ts";

/** Default time limit for connecting and for a response, in ms. */
export const TIMEOUT_MS = 10_000;

/** Transactions end within this many time limits. */
const STATEMENTS = 6;

/** Time limit for idle sessions, in ms, that closes no connection in use. Heartbeats are more frequent. */
const MAX_IDLE_MS = 60_000;

/** A setting that statements rely on, and the condition under which its current value `setting` is unsuitable. */
type Setting = readonly [name: string, value: string, unsuitable: string];

/**
 * Settings whose defaults may differ for a role or a database. All others may have any value. Time zone and formats,
 * for example, affect no statement.
 */
const settingsFor = (timeoutMs: number): Setting[] => [
  // Stricter levels reject statements that wait for a row in other transactions.
  ["default_transaction_isolation", "read committed", "setting <> 'read committed'"],
  ["default_transaction_read_only", "off", "setting = 'on'"],
  // An acknowledged event must be on disk.
  ["synchronous_commit", "on", "setting = 'off'"],
  // In a list of values, a null would become the text NULL.
  ["array_nulls", "on", "setting = 'off'"],
  ["standard_conforming_strings", "on", "setting = 'off'"],
  // Functions and operators must be the server's own. Tables are named with their schema.
  ["search_path", "pg_catalog", "(current_schemas(true))[1] <> 'pg_catalog'"],
  // Other kinds of tables lack row locks, for example.
  ["default_table_access_method", "heap", "setting <> 'heap'"],
  ["statement_timeout", "0", isAtMost(timeoutMs)],
  ["lock_timeout", "0", isAtMost(timeoutMs)],
  ["transaction_timeout", "0", isAtMost(STATEMENTS * timeoutMs)],
];

/** The only setting of a session rather than of its transactions. A pooler keeps its sessions alive itself. */
const IDLE: Setting = [
  "idle_session_timeout",
  "0",
  `pg_backend_pid() = $1 AND ${isAtMost(MAX_IDLE_MS)}`,
];

/** Returns the condition for a time limit that would strike first. */
function isAtMost(ms: number): string {
  return `extract(epoch FROM setting::interval) * 1000 BETWEEN 1 AND ${ms}`;
}

/** Returns the settings to change. A setting unknown to the server's version is null, and is left out. */
function unsuitable(settings: readonly Setting[]): string {
  const rows = settings.map(
    ([name, value, condition]) =>
      `SELECT '${name}' AS name, '${value}' AS value
       FROM (SELECT pg_catalog.current_setting('${name}', true) AS setting) AS current WHERE ${condition}`,
  );
  return `(${rows.join(" UNION ALL ")}) AS setting`;
}

/** Returns a statement that changes the settings until the end of its transaction. */
export function settleTransaction(timeoutMs: number): string {
  return `SELECT pg_catalog.set_config(name, value, true) FROM ${unsuitable(settingsFor(timeoutMs))}`;
}

/** Changes the settings of a session unless a pooler shares the session with other clients. */
const settleSession = (timeoutMs: number) => `
SELECT pg_backend_pid() AS pid, count(*) AS unsuitable,
  count(CASE WHEN pg_backend_pid() = $1 THEN pg_catalog.set_config(name, value, false) END) AS changed
FROM ${unsuitable([...settingsFor(timeoutMs), IDLE])}`;

export interface Session {
  /**
   * True if the connection goes through a pooler such as PgBouncer, which runs statements in sessions shared by
   * clients. Notifications would not arrive, and session state would leak to other clients.
   */
  readonly isPooled: boolean;
  /** True if the session has the settings that statements rely on. */
  readonly isSuitable: boolean;
}

/** Prepares a new connection. */
export async function settle(
  client: Pick<Client, "query" | "processID">,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Session> {
  const { rows } = await client.query(settleSession(timeoutMs), [client.processID ?? 0]);
  const [row = {}] = rows;
  return {
    isPooled: row["pid"] !== client.processID,
    isSuitable: row["unsuitable"] === row["changed"],
  };
}
