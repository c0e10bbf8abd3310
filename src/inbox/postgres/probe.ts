import { ServiceBotError } from "../../errors.ts";
import type { InboxProbe } from "../probe.ts";
import { checkSchema, processes } from "./attach.ts";
import { refuseMarked } from "./copy-mark.ts";
import type { Database } from "./database.ts";
import { storedSchema } from "./migrate.ts";
import { type OpenOptions, openDatabase } from "./open.ts";

const MAY_CREATE = "SELECT has_database_privilege(current_database(), 'CREATE') AS may";

const MAY_WRITE = `
SELECT bool_and(has_table_privilege(c.oid, right_name)) AS may
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
  unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS right_name
WHERE n.nspname = $1 AND c.relkind = 'r'`;

/**
 * Finds out whether a bot could use this place in PostgreSQL, and leaves everything as it is.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED,
 *   INBOX_UNUSABLE
 */
export async function probePostgres(options: OpenOptions): Promise<InboxProbe> {
  const database = await openDatabase(options);
  try {
    return await probe(database, options.url);
  } finally {
    await database.close();
  }
}

async function probe(database: Database, url: string): Promise<InboxProbe> {
  const { schema } = database;
  if ((await storedSchema(database)).version === 0) {
    if (await may(database, MAY_CREATE)) return { exists: false, served: false };
    throw forbidden(`The role may not make the schema ${schema} in this database.`);
  }
  await checkSchema(database);
  await refuseMarked(database, url);
  if (await may(database, MAY_WRITE, [schema])) {
    return { exists: true, served: (await processes(database)) > 0 };
  }
  throw forbidden(`The role may not write to the tables of the schema ${schema}.`);
}

async function may(database: Database, sql: string, values: readonly string[] = []) {
  const [row] = await database.rows<{ readonly may: boolean | null }>(sql, values);
  return row?.may === true;
}

function forbidden(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_UNUSABLE", message);
}
