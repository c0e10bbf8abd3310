import { ServiceBotError } from "../../errors.ts";
import { FORGET_ABSENT, type RestoreMark } from "../restored.ts";
import { processes } from "./attach.ts";
import { placeOf, refuseMarked } from "./copy-mark.ts";
import type { Database } from "./database.ts";
import { migrate, storedSchema } from "./migrate.ts";
import { type OpenOptions, openDatabase } from "./open.ts";
import { storeMark } from "./restored-cursor.ts";
import { ALIVE_MS } from "./shared/instances.ts";

const FORGET = `DELETE FROM {schema}.step WHERE ${FORGET_ABSENT}`;

const CONTENTS = `
SELECT count(*)::integer AS events, (count(*) FILTER (WHERE state = 'pending'))::integer AS pending
FROM {schema}.event`;

interface Contents {
  readonly events: number;
  readonly pending: number;
}

/** Large tables take a while to be counted, in milliseconds. */
const TIMEOUT_MS = 120_000;

/**
 * Marks an inbox in PostgreSQL that was restored from a backup.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_IN_USE, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED,
 *   INBOX_UNUSABLE
 */
export async function markDatabase(
  options: OpenOptions,
  mark: RestoreMark,
): Promise<Contents & { readonly place: string }> {
  const database = await openDatabase({ timeoutMs: TIMEOUT_MS, ...options });
  const place = placeOf(options.url, options.schema);
  try {
    if ((await storedSchema(database)).version === 0) {
      const message = `There is no inbox in ${place}; are DATABASE_URL and DATABASE_SCHEMA the bot's?`;
      throw new ServiceBotError("INBOX_MISSING", message);
    }
    // As a bot would at its start, which must come after the mark.
    await migrate(database);
    await refuseMarked(database, options.url);
    await refuseServed(database, place);
    await database.transaction(async (queries) => {
      await storeMark(queries, mark);
      await queries.rows(FORGET);
    });
    const [contents] = await database.rows<Contents>(CONTENTS);
    return { place, ...(contents ?? { events: 0, pending: 0 }) };
  } finally {
    await database.close();
  }
}

async function refuseServed(database: Database, place: string): Promise<void> {
  if ((await processes(database)) === 0) return;
  throw new ServiceBotError(
    "INBOX_IN_USE",
    `${place} is used by a bot. Stop every instance of it first: only at its start does a bot see that its inbox was ` +
      `restored. One that was killed, and one that a backup remembers, counts for ${ALIVE_MS / 1_000} s.`,
  );
}
