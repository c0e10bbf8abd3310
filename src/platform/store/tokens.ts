import type { Database, Statement } from "better-sqlite3";

/** What a token may do (section 5, rule 2). */
export type Scope = "read" | "posts:write" | "comments:write" | "dm";

export const allScopes: readonly Scope[] = ["read", "posts:write", "comments:write", "dm"];

/** The bearer tokens of the app. One of them, the standard one, has every scope. */
export class Tokens {
  readonly #put: Statement<[string, string, number]>;
  readonly #dropStandard: Statement<[]>;
  readonly #standard: Statement<[], { api_key: string }>;
  readonly #scopes: Statement<[string], { scopes: string }>;

  constructor(db: Database) {
    this.#put = db.prepare(
      "INSERT OR REPLACE INTO token (api_key, scopes, standard) VALUES (?, ?, ?)",
    );
    this.#dropStandard = db.prepare("DELETE FROM token WHERE standard = 1");
    this.#standard = db.prepare("SELECT api_key FROM token WHERE standard = 1");
    this.#scopes = db.prepare("SELECT scopes FROM token WHERE api_key = ?");
  }

  add(apiKey: string, scopes: readonly Scope[]): void {
    this.#put.run(apiKey, JSON.stringify(scopes), 0);
  }

  standard(): string | undefined {
    return this.#standard.get()?.api_key;
  }

  /** Makes this the standard token; the one before it is not valid any more. */
  setStandard(apiKey: string): void {
    this.#dropStandard.run();
    this.#put.run(apiKey, JSON.stringify(allScopes), 1);
  }

  /** Undefined for a token that does not exist. */
  scopesOf(apiKey: string): ReadonlySet<Scope> | undefined {
    const row = this.#scopes.get(apiKey);
    // Only the methods above write this column.
    return row && new Set(JSON.parse(row.scopes) as Scope[]);
  }
}
