import { randomUUID } from "node:crypto";
import { MARK, markError, notEmpty, overtaken } from "../copy/mark.ts";
import type { CopyTarget } from "../copy/stores.ts";
import { tables } from "../copy/tables.ts";
import { checkSchema } from "./attach.ts";
import { clearMark, readMark, setMark } from "./copy-mark.ts";
import { CopyRows } from "./copy-rows.ts";
import { type Opened, openForCopy, refuseServed } from "./copy-store.ts";
import type { Database, Queries } from "./database.ts";
import { migrate, storedSchema } from "./migrate.ts";
import type { OpenOptions } from "./open.ts";

/** What was copied has its numbers; what comes after goes on behind the last one. */
const GO_ON = `
SELECT setval(pg_get_serial_sequence('{schema}.event', 'seq'), max(seq)) FROM {schema}.event
HAVING max(seq) IS NOT NULL`;

/** Otherwise the first claims would be planned as if the tables were empty. */
const ANALYZE = `ANALYZE ${tables.map(({ name }) => `{schema}.${name}`).join(", ")}`;

/** Only the run that the mark is of may take it away. */
const MINE = `SELECT run FROM {schema}.${MARK} WHERE run = $1 FOR UPDATE`;

/**
 * Opens a place in PostgreSQL for an inbox that is to be made by a copy. Nothing is made before the copy
 * begins.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE
 */
export async function openPostgresTarget(options: OpenOptions): Promise<CopyTarget> {
  const opened = await openForCopy(options);
  const { database, rows, store } = opened;
  const run = randomUUID();
  return {
    ...store,
    async obstacle(from) {
      if ((await storedSchema(database)).version === 0) return undefined;
      await checkSchema(database);
      return await obstacleIn(database, from, store.place, database.schema);
    },
    async unfinished() {
      return (await readMark(database))?.role === "target";
    },
    begin: (from) => begin(opened, from, run),
    write: (table, batch) => rows.write(table, batch, run, store.place),
    finish: () => finish(database, run, store.place),
  };
}

async function begin(opened: Opened, from: string, run: string): Promise<void> {
  const { database, store } = opened;
  await migrate(database);
  // A bot that runs must not see a mark: it would stop.
  await refuseServed(opened);
  await database.transaction(async (queries) => {
    const problem = await obstacleIn(queries, from, store.place, database.schema);
    if (problem !== undefined) throw problem;
    await setMark(queries, { role: "target", other: from, run });
    await new CopyRows(queries).clear(tables);
  });
  try {
    await refuseServed(opened);
  } catch (error) {
    await database.transaction(clearMark);
    throw error;
  }
}

async function finish(database: Database, run: string, place: string): Promise<void> {
  await database.rows(GO_ON);
  await database.rows(ANALYZE);
  await database.transaction(async (queries) => {
    const mine = await queries.rows(MINE, [run]);
    if (mine.length === 0) throw overtaken(place);
    await clearMark(queries);
  });
}

async function obstacleIn(
  queries: Queries,
  from: string,
  place: string,
  schema: string,
): Promise<Error | undefined> {
  const mark = await readMark(queries);
  if (mark?.role === "target" && mark.other === from) return undefined;
  if (mark !== undefined) return markError(mark, place);
  if (await new CopyRows(queries).isEmpty(tables)) return undefined;
  return notEmpty(
    place,
    `Set DATABASE_SCHEMA to another name, or, if nothing there is needed: DROP SCHEMA "${schema}" CASCADE.`,
  );
}
