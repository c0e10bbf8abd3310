import type { Database, Statement } from "better-sqlite3";

/** What an app has used of its daily quotas. Only the newest day of each is kept. */
export class Usage {
  readonly #add: Statement<[{ bot: number; quota: string; day: number }]>;
  readonly #used: Statement<[number, string, number], { used: number }>;

  constructor(db: Database) {
    this.#add = db.prepare(
      `INSERT INTO usage (bot, quota, day, used) VALUES (@bot, @quota, @day, 1)
       ON CONFLICT (bot, quota)
       DO UPDATE SET used = iif(day = excluded.day, used, 0) + 1, day = excluded.day`,
    );
    this.#used = db.prepare("SELECT used FROM usage WHERE bot = ? AND quota = ? AND day = ?");
  }

  /** `day` counts from 1970, UTC. */
  used(bot: number, quota: string, day: number): number {
    return this.#used.get(bot, quota, day)?.used ?? 0;
  }

  add(bot: number, quota: string, day: number): void {
    this.#add.run({ bot, quota, day });
  }
}
