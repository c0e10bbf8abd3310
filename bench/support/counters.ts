import { readDatabase } from "../../src/core/database-address.ts";
import { drivers } from "./drivers.ts";
import type { QueueOptions } from "./queue.ts";

const { Sqlite, pg } = drivers;

/** A counter per conversation in a table next to the inbox, as a bot's author would write it without `ctx.state()`. */
export interface Counters {
  /** Increments the counter in its own transaction. */
  increment(key: string): Promise<void>;
  close(): Promise<void>;
}

const TABLE = "CREATE TABLE IF NOT EXISTS counter (key text PRIMARY KEY, value text NOT NULL)";
const READ = "SELECT value FROM counter WHERE key = $1";
const WRITE =
  "INSERT INTO counter VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/** On PostgreSQL, the pool has pg's default size. */
export async function openCounters({ url, schema }: QueueOptions): Promise<Counters> {
  const database = readDatabase(url);
  if (database.kind === "sqlite") return inFile(`${database.file}.counters`);
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}` });
  await pool.query(TABLE);
  return {
    async increment(key) {
      const { rows } = await pool.query(READ, [key]);
      await pool.query(WRITE, [key, next(rows[0]?.value)]);
    },
    close: () => pool.end(),
  };
}

function inFile(file: string): Counters {
  const db = new Sqlite(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(TABLE);
  const read = db.prepare<[string], { value: string }>(READ.replace("$1", "?"));
  const write = db.prepare(WRITE.replace("$1", "?").replace("$2", "?"));
  return {
    async increment(key) {
      write.run(key, next(read.get(key)?.value));
    },
    async close() {
      db.close();
    },
  };
}

function next(value: unknown): string {
  const { count } = typeof value === "string" ? JSON.parse(value) : { count: 0 };
  return JSON.stringify({ count: count + 1 });
}
