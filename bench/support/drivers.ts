import { createRequire } from "node:module";
import type Sqlite from "better-sqlite3";
import type pg from "pg";

const load = createRequire(new URL("../../src/bot.ts", import.meta.url));

/** The drivers that the inbox uses. The peers use other copies, those of `tools/`. */
export const drivers: { readonly Sqlite: typeof Sqlite; readonly pg: typeof pg } = {
  Sqlite: load("better-sqlite3"),
  pg: load("pg"),
};
