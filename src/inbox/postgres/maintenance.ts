import { ServiceBotError } from "../../errors.ts";
import type { InboxProbe, ServerHealth } from "../health.ts";
import type { RestoreMark } from "../restore-mark.ts";
import { SqlAdmin } from "../sql/admin.ts";
import type { AttachedInbox } from "../sql/attached.ts";
import { countContents, type InboxContents, markRestored, refuseMarked } from "../sql/marks.ts";
import { Reports } from "../sql/reports.ts";
import type { Database } from "./database.ts";
import {
  checkSchema,
  migrate,
  nameOfInbox,
  type OpenOptions,
  openDatabase,
  openWith,
  storedSchema,
} from "./open.ts";
import { PROCESSES } from "./presence.ts";
import { ALIVE, ALIVE_MS, readSharedReport } from "./shared.ts";
import { notifyAll } from "./wake-ups.ts";

/**
 * Counts processes in two ways and takes the larger count. Behind a pooler, no bot holds the presence lock. A suspended
 * bot sends no heartbeat, and could resume without having seen a restore's mark.
 */
const SERVING = `
SELECT greatest((${PROCESSES}),
  (SELECT count(*) FROM {schema}.instance WHERE ${ALIVE})) AS n`;

const MAY_CREATE = "SELECT has_database_privilege(current_database(), 'CREATE') AS may";

const MAY_WRITE = `
SELECT bool_and(has_table_privilege(c.oid, right_name)) AS may
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
  unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS right_name
WHERE n.nspname = $1 AND c.relkind = 'r'`;

/** Age from which an open transaction is reported, in seconds. The bot's own transactions never stay open this long. */
const LONG_OPEN_SECONDS = 60;

const VERSION = "SELECT current_setting('server_version') AS version";

/** The server hides details of other roles' sessions unless this role may see them. */
const LONG_OPEN = `
SELECT pid, coalesce(application_name, '') AS application, coalesce(state, '') AS state,
  floor(extract(epoch FROM clock_timestamp() - xact_start))::integer AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND xact_start < clock_timestamp() - interval '${LONG_OPEN_SECONDS} seconds'
ORDER BY xact_start LIMIT 5`;

/** Time limit for a response, in ms. Counting the rows of large tables takes a while. */
const COUNT_TIMEOUT_MS = 120_000;

/**
 * Opens a PostgreSQL inbox that bots may be using. Neither creates nor changes the schema.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED,
 *   INBOX_UNUSABLE
 */
export async function attachPostgres(options: OpenOptions): Promise<AttachedInbox> {
  const database = await openDatabase(options);
  await requireInbox(database, options.url);
  let notified = Promise.resolve();
  const onDecided = () => {
    notified = notifyAll(database, "admin");
  };
  return {
    admin: new SqlAdmin(database, onDecided),
    reports: new Reports(database),
    served: async () => (await countProcesses(database)) > 0,
    together: () => readSharedReport(database),
    async close() {
      await notified;
      await database.close();
    },
  };
}

/** Counts the processes that have the inbox open. A killed process counts until its last heartbeat expires. */
export async function countProcesses(database: Database): Promise<number> {
  const [row] = await database.rows<{ readonly n: number }>(SERVING, [database.schema]);
  return row?.n ?? 0;
}

/**
 * Checks that the database has an inbox of this version and no unfinished copy. Otherwise, closes the database. An
 * inbox that has been copied can still be inspected.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_UNUSABLE
 */
export async function requireInbox(database: Database, url: string): Promise<void> {
  await openWith(database, async () => {
    await checkSchema(database);
    const place = nameOfInbox(url, database.schema);
    await database.run(() => refuseMarked(database.dialect, place, ["target"]));
  });
}

/**
 * Checks whether a bot could use this PostgreSQL schema. Changes nothing.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE
 */
export async function probePostgres(options: OpenOptions): Promise<InboxProbe> {
  return await usingDatabase(options, async (database) => {
    const { schema } = database;
    if ((await database.run(storedSchema)).version === 0) {
      if (await may(database, MAY_CREATE)) return { exists: false, served: false };
      throw forbidden(
        `The role has no permission to create the schema ${schema} in this database.`,
      );
    }
    await checkSchema(database);
    await database.run(() => refuseMarked(database.dialect, nameOfInbox(options.url, schema)));
    if (await may(database, MAY_WRITE, [schema])) {
      return { exists: true, served: (await countProcesses(database)) > 0 };
    }
    throw forbidden(`The role has no permission to write to the schema ${schema}.`);
  });
}

/**
 * Checks the health of an inbox's server.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE
 */
export async function healthOfServer(options: OpenOptions): Promise<ServerHealth> {
  return await usingDatabase(options, async (database) => {
    const [row] = await database.rows<{ readonly version: string }>(VERSION);
    const longOpen = await database.rows<ServerHealth["longOpen"][number]>(LONG_OPEN);
    return { kind: "server", version: row?.version ?? "", longOpen };
  });
}

/**
 * Marks a PostgreSQL inbox as restored from a backup.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED,
 *   INBOX_UNUSABLE
 */
export async function markDatabase(
  options: OpenOptions,
  mark: RestoreMark,
): Promise<InboxContents & { readonly place: string }> {
  const place = nameOfInbox(options.url, options.schema);
  return await usingDatabase({ timeoutMs: COUNT_TIMEOUT_MS, ...options }, async (database) => {
    if ((await database.run(storedSchema)).version === 0) {
      const message = `${place} contains no inbox. Check DATABASE_URL and DATABASE_SCHEMA.`;
      throw new ServiceBotError("INBOX_MISSING", message);
    }
    // Migrate first, as a bot would on startup, because the mark needs the current tables.
    await migrate(database);
    await database.run(() => refuseMarked(database.dialect, place));
    if ((await countProcesses(database)) > 0) throw inUse(place);
    await database.run(() => markRestored(mark));
    return { place, ...(await database.run(countContents)) };
  });
}

async function usingDatabase<T>(
  options: OpenOptions,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(options);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function may(database: Database, sql: string, values: readonly string[] = []) {
  const [row] = await database.rows<{ readonly may: boolean | null }>(sql, values);
  return row?.may === true;
}

function forbidden(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_UNUSABLE", message);
}

function inUse(place: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_IN_USE",
    `A bot uses ${place}. Stop every instance first. ` +
      `An instance that was killed, or that the backup contains, counts as running for ${ALIVE_MS / 1_000} s.`,
  );
}
