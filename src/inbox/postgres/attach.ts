import { ServiceBotError } from "../../errors.ts";
import type { AttachedInbox } from "../attached.ts";
import { SqlAdmin } from "../sql/admin.ts";
import { refuseMarked } from "./copy-mark.ts";
import type { Database } from "./database.ts";
import { PROCESSES } from "./listener.ts";
import { refuseTooNew, schemaVersion, storedSchema } from "./migrate.ts";
import { type OpenOptions, openDatabase, openWith } from "./open.ts";
import { ALIVE, readSharedReport } from "./shared/instances.ts";
import { PostgresStore } from "./store.ts";
import { tell } from "./wake-ups.ts";

/**
 * Opens an inbox in PostgreSQL beside the bots that may be using it. The schema is neither made nor
 * changed: that is a bot's.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED,
 *   INBOX_UNUSABLE
 */
export async function attachPostgres(options: OpenOptions): Promise<AttachedInbox> {
  const database = await openDatabase(options);
  await requireInbox(database, options.url);
  let telling = Promise.resolve();
  const changed = () => {
    telling = tell(database, "admin");
  };
  return {
    admin: new SqlAdmin(new PostgresStore(database), changed),
    async served() {
      return (await processes(database)) > 0;
    },
    together: () => readSharedReport(database),
    async close() {
      await telling;
      await database.close();
    },
  };
}

/** Behind a pooler no bot holds the lock of presence, and one that has just begun has given no sign of life yet. */
const SERVING = `
SELECT greatest((${PROCESSES}),
  (SELECT count(*) FROM {schema}.instance WHERE ${ALIVE})) AS n`;

/** How many processes have the inbox open. One that was killed may count for as long as its last sign of life. */
export async function processes(database: Database): Promise<number> {
  const [row] = await database.rows<{ readonly n: number }>(SERVING, [database.schema]);
  return row?.n ?? 0;
}

/**
 * Makes sure that there is an inbox of this version, and no half of one; else closes the database. One that
 * was copied can still be looked at.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_UNUSABLE
 */
export async function requireInbox(database: Database, url: string): Promise<void> {
  await openWith(database, async () => {
    await checkSchema(database);
    await refuseMarked(database, url, ["target"]);
  });
}

/**
 * Makes sure that there is an inbox of this version.
 *
 * @throws {ServiceBotError} INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW
 */
export async function checkSchema(database: Database): Promise<void> {
  const stored = await storedSchema(database);
  const { schema } = database;
  if (stored.version === 0) {
    throw new ServiceBotError(
      "INBOX_MISSING",
      `The database has no inbox in the schema ${schema}. The bot makes it at its first start; are ` +
        "DATABASE_URL and DATABASE_SCHEMA the bot's?",
    );
  }
  refuseTooNew(stored);
  if (stored.version >= schemaVersion()) return;
  throw new ServiceBotError(
    "INBOX_TOO_OLD",
    `The inbox in the schema ${schema} was written by an older version of service-bot (schema ` +
      `${stored.version}, this version has ${schemaVersion()}). Start the bot once with this version.`,
  );
}
