import { loadDatabase } from "../../config.ts";
import { type DatabaseAddress, showDatabase } from "../../core/database-address.ts";
import { ConfigError, codeOf, messageOf, ServiceBotError } from "../../errors.ts";
import type { InboxProbe } from "../../inbox/maintenance.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { examineStorage } from "./storage.ts";

const { ok, note, fail } = findingsOf("database");

const remedies: Readonly<Record<string, string>> = {
  DRIVER_MISSING: "npm install pg",
  INBOX_TOO_NEW: "Update service-bot, or set DATABASE_URL to another place.",
  INBOX_UNFINISHED: 'Run the same "service-bot inbox copy" again.',
  INBOX_MOVED: "Set DATABASE_URL to where it was copied to.",
  STORE_UNAVAILABLE: "Free some space on its disk.",
};

const REMEDY =
  "Set DATABASE_URL to a place that whoever runs the bot may write to; PostgreSQL must run, and know the role.";

/** Can the bot keep its events where DATABASE_URL says? Nothing is made or changed there. */
export async function examineDatabase(): Promise<Finding[]> {
  try {
    const { database, databaseSchema } = loadDatabase(process.env);
    const place = showDatabase(database);
    if (place === ":memory:") {
      return [
        note(
          "the inbox is in memory: what was acknowledged and not handled is lost when the bot ends",
          "Set DATABASE_URL to a file, such as file:data/bot.db.",
        ),
      ];
    }
    const found = await probe(database, databaseSchema);
    return [told(place, found), ...(found.exists ? await examineStorage() : [])];
  } catch (error) {
    // The environment's own findings have told that already.
    if (error instanceof ConfigError) return [];
    if (!(error instanceof ServiceBotError)) throw error;
    if (error.code === "INBOX_TOO_OLD") {
      return [note(messageOf(error), "Start the bot: it brings the inbox up to date.")];
    }
    return [fail(messageOf(error), remedies[codeOf(error)] ?? REMEDY)];
  }
}

function told(place: string, { exists, served }: InboxProbe): Finding {
  if (!exists) return ok(`the inbox can be made at ${place}`);
  return ok(`the inbox at ${place} can be written${served ? "; a bot uses it now" : ""}`);
}

/** The stores are loaded late: the other commands need none. */
async function probe(database: DatabaseAddress, schema: string): Promise<InboxProbe> {
  if (database.kind === "postgres") {
    const { probePostgres } = await import("../../inbox/postgres/maintenance.ts");
    return await probePostgres({ url: database.url, schema, timeoutMs: 5_000 });
  }
  const { probeFile } = await import("../../inbox/sqlite/maintenance.ts");
  return probeFile(database.file);
}
