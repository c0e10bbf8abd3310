import { ServiceBotError } from "../../errors.ts";
import type { AttachedInbox } from "../attached.ts";
import { EVENT_LOG } from "../inbox.ts";
import { postgresAdmin } from "./admin.ts";
import type { Database } from "./database.ts";
import { PROCESSES } from "./listener.ts";
import { refuseTooNew, schemaVersion, storedSchema } from "./migrate.ts";
import { asUnusable, type OpenOptions, openDatabase } from "./open.ts";
import { readSharedReport } from "./shared/instances.ts";
import { TELL } from "./wake-ups.ts";

/**
 * Opens an inbox in PostgreSQL beside the bots that may be using it. The schema is neither made nor
 * changed: that is a bot's.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNUSABLE
 */
export async function attachPostgres(options: OpenOptions): Promise<AttachedInbox> {
  const database = await openDatabase(options);
  try {
    await checkSchema(database);
  } catch (error) {
    await database.close();
    throw asUnusable(error);
  }
  let telling: Promise<unknown> = Promise.resolve();
  return {
    admin: postgresAdmin(database, () => {
      // Whoever does not hear it looks by itself soon.
      telling = database.rows(TELL, [database.schema, "admin"]).catch(() => undefined);
    }),
    async served() {
      const [row] = await database.rows<{ readonly n: number }>(PROCESSES, [database.schema]);
      return (row?.n ?? 0) > 0;
    },
    together: () => readSharedReport(database, EVENT_LOG),
    async close() {
      await telling;
      await database.close();
    },
  };
}

async function checkSchema(database: Database): Promise<void> {
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
