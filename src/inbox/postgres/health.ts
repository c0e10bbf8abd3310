import type { ServerHealth } from "../health.ts";
import { type OpenOptions, openDatabase } from "./open.ts";

/** Longer than this and nothing of the bot's has a transaction open, in seconds. */
const LONG_SECONDS = 60;

const VERSION = "SELECT current_setting('server_version') AS version";

/** Of other roles' sessions nothing but that they are there is told, unless the role may see more. */
const LONG_OPEN = `
SELECT pid, coalesce(application_name, '') AS application, coalesce(state, '') AS state,
  floor(extract(epoch FROM clock_timestamp() - xact_start))::integer AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND xact_start < clock_timestamp() - interval '${LONG_SECONDS} seconds'
ORDER BY xact_start LIMIT 5`;

/**
 * Looks at the server of an inbox. That it keeps what is committed is seen to when it is opened.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE
 */
export async function healthOfServer(options: OpenOptions): Promise<ServerHealth> {
  const database = await openDatabase(options);
  try {
    const [row] = await database.rows<{ readonly version: string }>(VERSION);
    const longOpen = await database.rows<ServerHealth["longOpen"][number]>(LONG_OPEN);
    return { kind: "server", version: row?.version ?? "", longOpen };
  } finally {
    await database.close();
  }
}
