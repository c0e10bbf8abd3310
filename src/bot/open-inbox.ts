import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { BotOptions } from "../options.ts";

/**
 * Opens the inbox where the configuration has it.
 *
 * @param deadline when it aborts, a database that does not answer is not waited for any more; a file always answers
 */
export async function openInbox(
  config: Config,
  options: BotOptions,
  clock: Clock,
  deadline: AbortSignal,
  bot: object,
): Promise<Inbox> {
  const { database, databaseSchema: schema } = config;
  if (database.kind === "postgres") {
    const { PostgresInbox } = await import("../inbox/postgres/postgres-inbox.ts");
    const { random, maxBacklog } = options;
    // A test that stops the clock stops the leases with it; else they are on the database's.
    const now = options.clock && (() => clock.now());
    const { url } = database;
    const shared = { clock, now, random, maxBacklog, deadline, bot };
    return await PostgresInbox.open({ url, schema, ...shared });
  }
  // Loaded late: the native binding must not be touched before the version of Node was checked.
  const { SqliteInbox } = await import("../inbox/sqlite/sqlite-inbox.ts");
  return new SqliteInbox({
    file: database.file,
    clock,
    bot,
    ...(options.maxBacklog === undefined ? {} : { maxBacklog: options.maxBacklog }),
    ...(options.minFreeBytes === undefined ? {} : { minFreeBytes: options.minFreeBytes }),
  });
}
