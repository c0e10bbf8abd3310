import type { Database, Statement } from "better-sqlite3";

/** What a token may do (section 5, rule 2). */
export type Scope = "read" | "posts:write" | "comments:write" | "dm";

/** What a token stands for: an app, known by its bot, and what it may do. */
export interface Grant {
  /** The number of the bot. */
  readonly bot: number;
  readonly scopes: ReadonlySet<Scope>;
}

export const allScopes: readonly Scope[] = ["read", "posts:write", "comments:write", "dm"];

/** The bearer tokens of all apps. One of them, the standard one, has every scope. */
export class Tokens {
  readonly #put: Statement<[string, string, number, number]>;
  readonly #dropStandard: Statement<[]>;
  readonly #standard: Statement<[], { api_key: string }>;
  readonly #of: Statement<[number], { api_key: string; scopes: string }>;
  readonly #grant: Statement<[string], { scopes: string; bot: number }>;

  constructor(db: Database) {
    this.#put = db.prepare(
      "INSERT OR REPLACE INTO token (api_key, scopes, standard, bot) VALUES (?, ?, ?, ?)",
    );
    this.#dropStandard = db.prepare("DELETE FROM token WHERE standard = 1");
    this.#standard = db.prepare("SELECT api_key FROM token WHERE standard = 1");
    this.#of = db.prepare("SELECT api_key, scopes FROM token WHERE bot = ? AND standard = 0");
    this.#grant = db.prepare("SELECT scopes, bot FROM token WHERE api_key = ?");
  }

  add(apiKey: string, bot: number, scopes: readonly Scope[]): void {
    this.#put.run(apiKey, JSON.stringify(scopes), 0, bot);
  }

  standard(): string | undefined {
    return this.#standard.get()?.api_key;
  }

  /** Makes this the standard token; the one before it is not valid any more. */
  setStandard(apiKey: string, bot: number): void {
    this.#dropStandard.run();
    this.#put.run(apiKey, JSON.stringify(allScopes), 1, bot);
  }

  /** The tokens of an app, besides the standard one. */
  of(bot: number): { readonly apiKey: string; readonly scopes: readonly Scope[] }[] {
    return this.#of.all(bot).map(({ api_key: apiKey, scopes }) => {
      return { apiKey, scopes: JSON.parse(scopes) as Scope[] };
    });
  }

  /** Undefined for a token that does not exist. */
  find(apiKey: string): Grant | undefined {
    const row = this.#grant.get(apiKey);
    // Only the methods above write this column.
    return row && { bot: row.bot, scopes: new Set(JSON.parse(row.scopes) as Scope[]) };
  }
}
