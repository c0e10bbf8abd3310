import { showDatabase } from "../../core/database-address.ts";
import { MARK, type Mark, markError } from "../copy.ts";
import type { Queries } from "./database.ts";

/** The constraint of an earlier version on what it copied from PostgreSQL. */
const FENCE = "inbox_was_copied";

const THERE = `SELECT to_regclass('{schema}.${MARK}') IS NOT NULL AS there`;

/** The address of an inbox in PostgreSQL, without user and password. */
export function placeOf(url: string, schema: string): string {
  return `${showDatabase({ kind: "postgres", url })} (schema ${schema})`;
}

/** The mark of an inbox that takes part in a copy. */
export async function readMark(queries: Queries): Promise<Mark | undefined> {
  const [found] = await queries.rows<{ readonly there: boolean }>(THERE);
  if (found?.there !== true) return undefined;
  const [mark] = await queries.rows<Mark>(`SELECT role, other, run FROM {schema}.${MARK}`);
  return mark;
}

/** Runs inside a transaction, and waits for readers of the mark that is there. */
export async function setMark(queries: Queries, { role, other, run }: Mark): Promise<void> {
  await clearMark(queries);
  await queries.rows(
    `CREATE TABLE {schema}.${MARK} (role text NOT NULL, other text NOT NULL, run text NOT NULL)`,
  );
  // The bot's role may be another one, and has to see the mark.
  await queries.rows(`GRANT SELECT ON {schema}.${MARK} TO PUBLIC`);
  const insert = `INSERT INTO {schema}.${MARK} (role, other, run) VALUES ($1, $2, $3)`;
  await queries.rows(insert, [role, other, run]);
}

export async function clearMark(queries: Queries): Promise<void> {
  await queries.rows(`DROP TABLE IF EXISTS {schema}.${MARK}`);
  for (const table of ["event", "lane"]) {
    await queries.rows(`ALTER TABLE {schema}.${table} DROP CONSTRAINT IF EXISTS ${FENCE}`);
  }
}

/**
 * Refuses an inbox that takes part in a copy.
 *
 * @param roles which ones are refused; both by default
 * @throws {ServiceBotError} INBOX_UNFINISHED, INBOX_MOVED
 */
export async function refuseMarked(
  queries: Queries & { readonly schema: string },
  url: string,
  roles: readonly Mark["role"][] = ["source", "target"],
): Promise<void> {
  const mark = await readMark(queries);
  if (mark !== undefined && roles.includes(mark.role)) {
    throw markError(mark, placeOf(url, queries.schema));
  }
}
