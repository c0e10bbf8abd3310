import type { Database } from "better-sqlite3";
import type { Window } from "./rows.ts";
import { Statement } from "./statement.ts";

/** A user's or bot's account. */
export interface User {
  readonly seq: number;
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

interface UserRow {
  readonly seq: number;
  readonly username: string;
  readonly name: string;
  readonly is_bot: number;
}

const COLUMNS = "seq, username, name, is_bot";

export class People {
  readonly #insert: Statement<[string, string, number], UserRow>;
  readonly #byUsername: Statement<[string], UserRow>;
  readonly #bySeq: Statement<[number], UserRow>;
  readonly #bot: Statement<[], UserRow>;
  readonly #people: Statement<[], UserRow>;
  readonly #search: Statement<[string, number, number], UserRow>;

  constructor(db: Database) {
    this.#insert = new Statement(
      db,
      `INSERT INTO user (username, name, is_bot) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
    );
    this.#byUsername = new Statement(db, `SELECT ${COLUMNS} FROM user WHERE username = ?`);
    this.#bySeq = new Statement(db, `SELECT ${COLUMNS} FROM user WHERE seq = ?`);
    this.#bot = new Statement(
      db,
      `SELECT ${COLUMNS} FROM user WHERE is_bot = 1 ORDER BY seq LIMIT 1`,
    );
    this.#people = new Statement(db, `SELECT ${COLUMNS} FROM user WHERE is_bot = 0 ORDER BY seq`);
    this.#search = new Statement(
      db,
      `SELECT ${COLUMNS} FROM user WHERE instr(folded(username || char(10) || name), folded(?))
         AND seq < ? ORDER BY seq DESC LIMIT ?`,
    );
  }

  /** `name` defaults to the capitalized username. */
  add(username: string, name: string | undefined, kind: "person" | "bot"): User {
    const shown = name ?? username.charAt(0).toUpperCase() + username.slice(1);
    const row = this.#insert.get(username, shown, kind === "bot" ? 1 : 0);
    if (row === undefined) throw new Error("SQLite returned no row for an INSERT … RETURNING");
    return toUser(row);
  }

  /** Returns the account with this username. Creates a user on first use. */
  findOrCreate(username: string): User {
    return this.find(username) ?? this.add(username, undefined, "person");
  }

  find(username: string): User | undefined {
    const row = this.#byUsername.get(username);
    return row && toUser(row);
  }

  get(seq: number): User {
    const row = this.#bySeq.get(seq);
    if (row === undefined) throw new Error(`There is no user ${seq}`);
    return toUser(row);
  }

  /** Returns the first bot, which is the default for all operations. */
  bot(): User {
    const row = this.#bot.get();
    if (row === undefined) throw new Error("The state file has no bot: it was never seeded");
    return toUser(row);
  }

  /** False for a new state file. */
  get seeded(): boolean {
    return this.#bot.get() !== undefined;
  }

  all(): User[] {
    return this.#people.all().map(toUser);
  }

  /** Returns accounts whose username or name contains the text, ignoring case, newest first. */
  search(text: string, { before, limit }: Window): User[] {
    return this.#search.all(text, before, limit).map(toUser);
  }
}

function toUser(row: UserRow): User {
  return { seq: row.seq, username: row.username, name: row.name, isBot: row.is_bot === 1 };
}

/** Usernames of the blocking account and the blocked account. */
export interface Block {
  readonly by: string;
  readonly whom: string;
}

/**
 * Blocks between accounts. A block stops messages in both directions, whichever account set it (section 7 of the
 * platform document).
 */
export class Blocks {
  readonly #add: Statement<[number, number]>;
  readonly #remove: Statement<[number, number]>;
  readonly #between: Statement<[{ one: number; other: number }], { blocker: number }>;
  readonly #all: Statement<[], Block>;

  constructor(db: Database) {
    this.#add = new Statement(db, "INSERT OR IGNORE INTO block (blocker, blocked) VALUES (?, ?)");
    this.#remove = new Statement(db, "DELETE FROM block WHERE blocker = ? AND blocked = ?");
    this.#between = new Statement(
      db,
      `SELECT blocker FROM block
       WHERE (blocker, blocked) IN (VALUES (@one, @other), (@other, @one))`,
    );
    this.#all = new Statement(
      db,
      `SELECT a.username AS "by", b.username AS whom
       FROM block JOIN user a ON a.seq = blocker JOIN user b ON b.seq = blocked
       ORDER BY blocker, blocked`,
    );
  }

  set(blocker: number, blocked: number, on: boolean): void {
    (on ? this.#add : this.#remove).run(blocker, blocked);
  }

  between(one: number, other: number): boolean {
    return this.#between.get({ one, other }) !== undefined;
  }

  all(): Block[] {
    return this.#all.all();
  }
}
