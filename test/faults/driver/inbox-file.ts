import Sqlite, { type Database } from "better-sqlite3";
import type { Stored } from "./checker.ts";

/** How far a bot is with what it was sent. */
export interface Progress {
  readonly stored: number;
  readonly pending: number;
}

/** The inbox of a bot under test, looked at from outside. */
export class InboxFile {
  readonly #path: string;
  #db: Database | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads beside the bot, which WAL mode allows. Undefined as long as there is no inbox. */
  progress(): Progress | undefined {
    try {
      this.#db ??= new Sqlite(this.#path, { readonly: true, fileMustExist: true });
      const row: unknown = this.#db
        .prepare(
          `SELECT (SELECT count(*) FROM event) AS stored,
                  (SELECT count(*) FROM event WHERE state = 'pending') AS pending`,
        )
        .get();
      return row as Progress;
    } catch {
      this.close();
      return undefined;
    }
  }

  /** The ids among these that are not stored. For when no bot runs. */
  missing(ids: readonly string[]): string[] {
    if (ids.length === 0) return [];
    return this.#read((db) => {
      const rows: unknown[] = db
        .prepare("SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM event)")
        .all(JSON.stringify(ids));
      return (rows as { id: string }[]).map(({ id }) => id);
    });
  }

  /** Everything, and what SQLite says about the file. For when no bot runs. */
  contents(): { readonly stored: readonly Stored[]; readonly integrity: string } {
    return this.#read((db) => {
      const stored: unknown[] = db.prepare("SELECT id, state, attempts, error FROM event").all();
      const integrity = db.pragma("integrity_check", { simple: true });
      return { stored: stored as Stored[], integrity: String(integrity) };
    });
  }

  /** How many events came first by this door. For when no bot runs. */
  countBySource(source: "webhook" | "poll"): number {
    return this.#read((db) => {
      const count = db.prepare("SELECT count(*) FROM event WHERE source = ?").pluck().get(source);
      return Number(count);
    });
  }

  close(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  #read<T>(look: (db: Database) => T): T {
    this.close();
    const db = new Sqlite(this.#path, { readonly: true, fileMustExist: true });
    try {
      return look(db);
    } finally {
      db.close();
    }
  }
}
