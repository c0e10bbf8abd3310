import type { Database, Statement } from "better-sqlite3";

/** Something that the platform tells the owner of an app. */
export interface NewNotification {
  /** The number of the app's bot. */
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
    this.#add = db.prepare(
      "INSERT INTO notification (bot, at, type, message) VALUES (@bot, @at, @type, @message)",
    );
    this.#of = db.prepare(
      "SELECT seq, bot, at, type, message FROM notification WHERE bot = ? ORDER BY seq",
    );
  }

  add(notification: NewNotification): void {
    this.#add.run(notification);
  }

  /** Oldest first. */
  of(bot: number): Notification[] {
    return this.#of.all(bot);
  }
}
