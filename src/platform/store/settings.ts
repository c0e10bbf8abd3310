import type { Database, Statement } from "better-sqlite3";

/** Values that are kept by name. */
export class SavedSettings {
  readonly #get: Statement<[string], { value: string }>;
  readonly #put: Statement<[string, string]>;

  constructor(db: Database) {
    this.#get = db.prepare("SELECT value FROM setting WHERE name = ?");
    this.#put = db.prepare("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)");
  }

  /** Undefined where nothing was put, or nothing that can be read: a file may come from anywhere. */
  get(name: string): unknown {
    const text = this.#get.get(name)?.value;
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  put(name: string, value: unknown): void {
    this.#put.run(name, JSON.stringify(value));
  }
}
