import { ServiceBotError } from "../../errors.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { loadDriver } from "./driver.ts";

export type OpenOptions = Omit<DatabaseOptions, "driver">;

/** The oldest version that has what the statements need. */
const OLDEST = 130_000;

const SETTINGS = `
SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS standby,
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync,
  current_setting('server_encoding') AS encoding`;

interface SettingsRow {
  readonly version: number;
  readonly standby: boolean;
  readonly fsync: string;
  readonly sync: string;
  readonly encoding: string;
}

/**
 * Connects, and makes sure that what is committed there is durable.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const database = new Database({ ...options, driver: await loadDriver() });
  await openWith(database, async () => {
    const [settings] = await database.rows<SettingsRow>(SETTINGS);
    const problem = settings && problemOf(settings);
    if (problem !== undefined) throw unusable(problem);
  });
  return database;
}

/**
 * Does what belongs to the opening of a database. Where that fails, the database is closed.
 *
 * @throws {ServiceBotError} INBOX_UNUSABLE, and what `work` throws
 */
export async function openWith<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await database.close();
    throw asUnusable(error);
  }
}

/** What cannot be used at the start is told apart from what is away for a while. */
function asUnusable(error: unknown): unknown {
  const away = error instanceof ServiceBotError && error.code === "STORE_UNAVAILABLE";
  return away ? unusable(error.message) : error;
}

function unusable(message: string): ServiceBotError {
  return new ServiceBotError("INBOX_UNUSABLE", message);
}

function problemOf({ version, standby, fsync, sync, encoding }: SettingsRow): string | undefined {
  if (version < OLDEST) return "PostgreSQL 13 or newer is needed; update the server.";
  if (standby)
    return "DATABASE_URL names a standby, which takes no writes: name the primary server.";
  if (encoding !== "UTF8") {
    return `The database has the encoding ${encoding}, and events are UTF-8: make one with UTF8.`;
  }
  const loose = fsync === "off" ? "fsync" : sync === "off" ? "synchronous_commit" : undefined;
  if (loose === undefined) return undefined;
  return (
    `PostgreSQL has ${loose} = off: it would lose events that were acknowledged. Turn it on for the ` +
    `role of the bot (ALTER ROLE … SET synchronous_commit = on) or for the server.`
  );
}
