import type { Database } from "better-sqlite3";
import { allScopes, type Scope } from "../../core/platform-contract.ts";
import { Statement } from "./statement.ts";

export class AppStore {
  readonly #add: Statement<[number]>;
  readonly #bots: Statement<[], { bot: number }>;
  readonly #disabled: Statement<[number], { disabled: number }>;
  readonly #setDisabled: Statement<[number, number]>;

  constructor(db: Database) {
    this.#add = new Statement(db, "INSERT INTO app (bot) VALUES (?)");
    this.#bots = new Statement(db, "SELECT bot FROM app ORDER BY bot");
    this.#disabled = new Statement(db, "SELECT disabled FROM app WHERE bot = ?");
    this.#setDisabled = new Statement(db, "UPDATE app SET disabled = ? WHERE bot = ?");
  }

  add(bot: number): void {
    this.#add.run(bot);
  }

  /** Returns each bot's `seq`. The first bot is the default for all operations. */
  bots(): number[] {
    return this.#bots.all().map(({ bot }) => bot);
  }

  /** True while the kill switch is on. The platform then rejects every call by the app. */
  disabled(bot: number): boolean {
    return this.#disabled.get(bot)?.disabled === 1;
  }

  setDisabled(bot: number, disabled: boolean): void {
    this.#setDisabled.run(disabled ? 1 : 0, bot);
  }
}

/** A token's rights. The app is identified by its bot. */
export interface Grant {
  /** The bot's `seq`. */
  readonly bot: number;
  readonly scopes: ReadonlySet<Scope>;
}

export interface TokenFacts {
  readonly seq: number;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly standard: boolean;
}

/** Bearer tokens of all apps. The standard token belongs to the first app and has every scope. */
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
  readonly #remove: Statement<[number], { bot: number }>;
  #changes = 0;

  constructor(db: Database) {
    this.#put = new Statement(
      db,
      "INSERT OR REPLACE INTO token (api_key, scopes, standard, bot) VALUES (?, ?, ?, ?)",
    );
    this.#dropStandard = new Statement(db, "DELETE FROM token WHERE standard = 1");
    this.#standard = new Statement(db, "SELECT api_key FROM token WHERE standard = 1");
    this.#keysOf = new Statement(
      db,
      "SELECT api_key, scopes FROM token WHERE bot = ? AND standard = 0 ORDER BY seq",
    );
    this.#grant = new Statement(db, "SELECT scopes, bot FROM token WHERE api_key = ?");
    this.#of = new Statement(
      db,
      `SELECT seq, substr(api_key, -4) AS lastFour, scopes, standard
       FROM token WHERE bot = ? ORDER BY seq`,
    );
    this.#remove = new Statement(db, "DELETE FROM token WHERE seq = ? RETURNING bot");
  }

  /** Number of changes to any token. A grant is valid while this number stays the same. */
  get changes(): number {
    return this.#changes;
  }

  add(apiKey: string, bot: number, scopes: readonly Scope[]): void {
    this.#changes += 1;
    this.#put.run(apiKey, JSON.stringify(scopes), 0, bot);
  }

  standard(): string | undefined {
    return this.#standard.get()?.api_key;
  }

  /** Replaces the previous standard token, which becomes invalid. */
  setStandard(apiKey: string, bot: number): void {
    this.#changes += 1;
    this.#dropStandard.run();
    this.#put.run(apiKey, JSON.stringify(allScopes), 1, bot);
  }

  keysOf(bot: number): { readonly apiKey: string; readonly scopes: readonly Scope[] }[] {
    return this.#keysOf.all(bot).map((row) => ({ apiKey: row.api_key, scopes: scopesIn(row) }));
  }

  /** Returns all of a bot's tokens, the standard token first. */
  allKeysOf(bot: number): string[] {
    const standard = this.standard();
    const own = this.keysOf(bot).map(({ apiKey }) => apiKey);
    return standard !== undefined && this.find(standard)?.bot === bot ? [standard, ...own] : own;
  }

  find(apiKey: string): Grant | undefined {
    const row = this.#grant.get(apiKey);
    return row && { bot: row.bot, scopes: new Set(scopesIn(row)) };
  }

  of(bot: number): TokenFacts[] {
    return this.#of.all(bot).map((row) => {
      return { ...row, scopes: scopesIn(row), standard: row.standard === 1 };
    });
  }

  /** Returns the removed token's bot. */
  remove(seq: number): number | undefined {
    this.#changes += 1;
    return this.#remove.get(seq)?.bot;
  }
}

function scopesIn({ scopes }: { readonly scopes: string }): Scope[] {
  // Trusted, because only `add` and `setStandard` write this column.
  return JSON.parse(scopes) as Scope[];
}

export interface NewNotification {
  readonly bot: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly type: "webhook.disabled";
  readonly message: string;
}

export interface Notification extends NewNotification {
  readonly seq: number;
}

export class Notifications {
  readonly #add: Statement<[NewNotification]>;
  readonly #of: Statement<[number], Notification>;

  constructor(db: Database) {
    this.#add = new Statement(
      db,
      "INSERT INTO notification (bot, at, type, message) VALUES (@bot, @at, @type, @message)",
    );
    this.#of = new Statement(
      db,
      "SELECT seq, bot, at, type, message FROM notification WHERE bot = ? ORDER BY seq",
    );
  }

  add(notification: NewNotification): void {
    this.#add.run(notification);
  }

  of(bot: number): Notification[] {
    return this.#of.all(bot);
  }
}

/** Usage of the daily quotas. Keeps only the newest day for each quota. */
export class Usage {
  readonly #add: Statement<[{ bot: number; quota: string; day: number }]>;
  readonly #used: Statement<[number, string, number], { used: number }>;

  constructor(db: Database) {
    this.#add = new Statement(
      db,
      `INSERT INTO usage (bot, quota, day, used) VALUES (@bot, @quota, @day, 1)
       ON CONFLICT (bot, quota)
       DO UPDATE SET used = iif(day = excluded.day, used, 0) + 1, day = excluded.day`,
    );
    this.#used = new Statement(
      db,
      "SELECT used FROM usage WHERE bot = ? AND quota = ? AND day = ?",
    );
  }

  /** @param day number of days since 1970, UTC */
  used(bot: number, quota: string, day: number): number {
    return this.#used.get(bot, quota, day)?.used ?? 0;
  }

  add(bot: number, quota: string, day: number): void {
    this.#add.run({ bot, quota, day });
  }
}
