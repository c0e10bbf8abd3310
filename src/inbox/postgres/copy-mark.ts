import { showDatabase } from "../../core/database-address.ts";
import { MARK, type Mark, markError } from "../copy/mark.ts";
import type { Queries } from "./database.ts";
import { FENCE } from "./store-error.ts";

const THERE = `SELECT to_regclass('{schema}.${MARK}') IS NOT NULL AS there`;

/** What nothing is written to once it was copied. */
const FENCED = ["event", "lane"];

/** What an inbox in a database is called. */
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

/**
 * Runs inside a transaction, and waits for whoever is using the mark that is there. An instance that was cut off and
 * comes back does not know of the mark until it looks, so a source takes nothing new and hands nothing out by itself.
 */
export async function setMark(queries: Queries, { role, other, run }: Mark): Promise<void> {
  await clearMark(queries);
  await queries.rows(
    `CREATE TABLE {schema}.${MARK} (role text NOT NULL, other text NOT NULL, run text NOT NULL)`,
  );
  // A bot's role may be another one, and must see what it may not do.
  await queries.rows(`GRANT SELECT ON {schema}.${MARK} TO PUBLIC`);
  await queries.rows(`INSERT INTO {schema}.${MARK} (role, other, run) VALUES ($1, $2, $3)`, [
    ...[role, other, run],
  ]);
  if (role === "target") return;
  for (const table of FENCED) {
    // What is there already is not looked at.
    await queries.rows(
      `ALTER TABLE {schema}.${table} ADD CONSTRAINT ${FENCE} CHECK (false) NOT VALID`,
    );
  }
}

export async function clearMark(queries: Queries): Promise<void> {
  await queries.rows(`DROP TABLE IF EXISTS {schema}.${MARK}`);
  for (const table of FENCED) {
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
