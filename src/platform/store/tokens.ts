import type { Database, Statement } from "better-sqlite3";
import { allScopes, type Scope } from "../../core/scope.ts";

/** What a token stands for: an app, known by its bot, and what it may do. */
export interface Grant {
  /** The number of the bot. */
  readonly bot: number;
  readonly scopes: ReadonlySet<Scope>;
}

/** A token without what makes it one. */
export interface TokenFacts {
  readonly seq: number;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  /** True for the one that the platform began with. */
  readonly standard: boolean;
}

/** The bearer tokens of all apps. One of them, the standard one of the first app, has every scope. */
export class Tokens {
  readonly #put: Statement<[string, string, number, number]>;
  readonly #dropStandard: Statement<[]>;
  readonly #standard: Statement<[], { api_key: string }>;
  readonly #keysOf: Statement<[number], { api_key: string; scopes: string }>;
  readonly #grant: Statement<[string], { scopes: string; bot: number }>;
  readonly #of: Statement<
    [number],
    { seq: number; lastFour: string; scopes: string; standard: number }
  >;
  readonly #remove: Statement<[number]>;

  constructor(db: Database) {
    this.#put = db.prepare(
      "INSERT OR REPLACE INTO token (api_key, scopes, standard, bot) VALUES (?, ?, ?, ?)",
    );
    this.#dropStandard = db.prepare("DELETE FROM token WHERE standard = 1");
    this.#standard = db.prepare("SELECT api_key FROM token WHERE standard = 1");
    this.#keysOf = db.prepare(
      "SELECT api_key, scopes FROM token WHERE bot = ? AND standard = 0 ORDER BY seq",
    );
    this.#grant = db.prepare("SELECT scopes, bot FROM token WHERE api_key = ?");
    this.#of = db.prepare(
      `SELECT seq, substr(api_key, -4) AS lastFour, scopes, standard
       FROM token WHERE bot = ? ORDER BY seq`,
    );
    this.#remove = db.prepare("DELETE FROM token WHERE seq = ?");
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

  /** The tokens of a bot's app in full, besides the standard one. */
  keysOf(bot: number): { readonly apiKey: string; readonly scopes: readonly Scope[] }[] {
    return this.#keysOf.all(bot).map((row) => ({ apiKey: row.api_key, scopes: scopesIn(row) }));
  }

  /** Every token of a bot's app in full, the standard one first. */
  allKeysOf(bot: number): string[] {
    const standard = this.standard();
    const own = this.keysOf(bot).map(({ apiKey }) => apiKey);
    return standard !== undefined && this.find(standard)?.bot === bot ? [standard, ...own] : own;
  }

  /** Undefined for a token that does not exist. */
  find(apiKey: string): Grant | undefined {
    const row = this.#grant.get(apiKey);
    return row && { bot: row.bot, scopes: new Set(scopesIn(row)) };
  }

  /** The tokens of a bot's app, oldest first. */
  of(bot: number): TokenFacts[] {
    return this.#of.all(bot).map((row) => {
      return { ...row, scopes: scopesIn(row), standard: row.standard === 1 };
    });
  }

  /** False when there is no such token. */
  remove(seq: number): boolean {
    return this.#remove.run(seq).changes === 1;
  }
}

function scopesIn({ scopes }: { readonly scopes: string }): Scope[] {
  // Only `add` and `setStandard` write this column.
  return JSON.parse(scopes) as Scope[];
}
