import type { Database, Statement } from "better-sqlite3";

/** Which bots are apps, and whether they may do anything: each has a kill switch. */
export class AppStore {
  readonly #add: Statement<[number]>;
  readonly #bots: Statement<[], { bot: number }>;
  readonly #disabled: Statement<[number], { disabled: number }>;
  readonly #setDisabled: Statement<[number, number]>;

  constructor(db: Database) {
    this.#add = db.prepare("INSERT INTO app (bot) VALUES (?)");
    this.#bots = db.prepare("SELECT bot FROM app ORDER BY bot");
    this.#disabled = db.prepare("SELECT disabled FROM app WHERE bot = ?");
    this.#setDisabled = db.prepare("UPDATE app SET disabled = ? WHERE bot = ?");
  }

  add(bot: number): void {
    this.#add.run(bot);
  }

  /** Their numbers. The first one is the one that is meant where none is named. */
  bots(): number[] {
    return this.#bots.all().map(({ bot }) => bot);
  }

  /** True while its kill switch is thrown: nothing that it sends is taken. */
  disabled(bot: number): boolean {
    return this.#disabled.get(bot)?.disabled === 1;
  }

  setDisabled(bot: number, disabled: boolean): void {
    this.#setDisabled.run(disabled ? 1 : 0, bot);
  }
}
