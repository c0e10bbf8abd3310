import type { Database, Statement } from "better-sqlite3";

/** An app, known by the number of its bot. */
export interface App {
  readonly bot: number;
  /** Its kill switch: true while nothing that it sends is taken. */
  readonly disabled: boolean;
}

interface AppRow {
  readonly bot: number;
  readonly disabled: number;
}

/** Which bots are apps, and whether they may do anything. */
export class AppStore {
  readonly #add: Statement<[number]>;
  readonly #all: Statement<[], AppRow>;
  readonly #disabled: Statement<[number], { disabled: number }>;
  readonly #setDisabled: Statement<[number, number]>;

  constructor(db: Database) {
    this.#add = db.prepare("INSERT INTO app (bot) VALUES (?)");
    this.#all = db.prepare("SELECT bot, disabled FROM app ORDER BY bot");
    this.#disabled = db.prepare("SELECT disabled FROM app WHERE bot = ?");
    this.#setDisabled = db.prepare("UPDATE app SET disabled = ? WHERE bot = ?");
  }

  add(bot: number): void {
    this.#add.run(bot);
  }

  /** The first one is the one that is meant where none is named. */
  all(): App[] {
    return this.#all.all().map(({ bot, disabled }) => ({ bot, disabled: disabled === 1 }));
  }

  disabled(bot: number): boolean {
    return this.#disabled.get(bot)?.disabled === 1;
  }

  setDisabled(bot: number, disabled: boolean): void {
    this.#setDisabled.run(disabled ? 1 : 0, bot);
  }
}
