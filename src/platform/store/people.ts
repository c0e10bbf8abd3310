import type { Database, Statement } from "better-sqlite3";

/** Anybody with an account; the bot is one of them. */
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
  readonly #bot: Statement<[], UserRow>;
  readonly #people: Statement<[], UserRow>;

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO user (username, name, is_bot) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
    );
    this.#byUsername = db.prepare(`SELECT ${COLUMNS} FROM user WHERE username = ?`);
    this.#bot = db.prepare(`SELECT ${COLUMNS} FROM user WHERE is_bot = 1`);
    this.#people = db.prepare(`SELECT ${COLUMNS} FROM user WHERE is_bot = 0 ORDER BY seq`);
  }

  add(username: string, name: string, kind: "person" | "bot"): User {
    const row = this.#insert.get(username, name, kind === "bot" ? 1 : 0);
    if (row === undefined) throw new Error("SQLite returned no row for an INSERT … RETURNING");
    return toUser(row);
  }

  find(username: string): User | undefined {
    const row = this.#byUsername.get(username);
    return row && toUser(row);
  }

  /** The one bot of the one app. */
  bot(): User {
    const row = this.#bot.get();
    if (row === undefined) throw new Error("The state file has no bot: it was never seeded");
    return toUser(row);
  }

  /** Everybody but the bot, in the order in which they came. */
  all(): User[] {
    return this.#people.all().map(toUser);
  }
}

function toUser(row: UserRow): User {
  return { seq: row.seq, username: row.username, name: row.name, isBot: row.is_bot === 1 };
}
