import type { Database, Statement } from "better-sqlite3";

/** Who has blocked whom, by username. */
export interface Block {
  readonly by: string;
  readonly whom: string;
}

/** Blocks between people and bots: with one in place, neither sends the other a message (section 7). */
export class Blocks {
  readonly #add: Statement<[number, number]>;
  readonly #remove: Statement<[number, number]>;
  readonly #between: Statement<[{ one: number; other: number }], { blocker: number }>;
  readonly #all: Statement<[], Block>;

  constructor(db: Database) {
    this.#add = db.prepare("INSERT OR IGNORE INTO block (blocker, blocked) VALUES (?, ?)");
    this.#remove = db.prepare("DELETE FROM block WHERE blocker = ? AND blocked = ?");
    this.#between = db.prepare(
      `SELECT blocker FROM block
       WHERE (blocker, blocked) IN (VALUES (@one, @other), (@other, @one))`,
    );
    this.#all = db.prepare(
      `SELECT a.username AS "by", b.username AS whom
       FROM block JOIN user a ON a.seq = blocker JOIN user b ON b.seq = blocked
       ORDER BY blocker, blocked`,
    );
  }

  /** Blocks or unblocks; nothing changes where it is so already. */
  set(blocker: number, blocked: number, on: boolean): void {
    (on ? this.#add : this.#remove).run(blocker, blocked);
  }

  /** True when either has blocked the other. */
  between(one: number, other: number): boolean {
    return this.#between.get({ one, other }) !== undefined;
  }

  all(): Block[] {
    return this.#all.all();
  }
}
