import { join } from "node:path";
import type { BotOptions } from "../../../src/index.ts";
import type { Place } from "../postgres/open.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Options that select a bot's inbox. Bots with the same options share it. */
export type Store = Required<Pick<BotOptions, "databaseUrl">> &
  Pick<BotOptions, "databaseSchema" | "minFreeBytes">;

/** An inbox in memory, which ends with its bot. */
export const memory: Store = { databaseUrl: "file::memory:" };

/**
 * An inbox in a file, on a disk of any size.
 *
 * @param file path of the database. Default: a file in a new folder
 */
export function sqlite(file: string = join(temporaryFolder(), "bot.db")): Store {
  return { databaseUrl: `file:${file}`, minFreeBytes: 0 };
}

export function postgres({ url, schema }: Place): Store {
  return { databaseUrl: url, databaseSchema: schema };
}

/** Selects the same inbox for a bot in another process. */
export function envOf({ databaseUrl, databaseSchema }: Store): Record<string, string> {
  const schema = databaseSchema === undefined ? {} : { DATABASE_SCHEMA: databaseSchema };
  return { DATABASE_URL: databaseUrl, ...schema };
}
