import type Sqlite from "better-sqlite3";
import type { Database } from "better-sqlite3";

/** A statement that SQLite compiles at its first use, because a platform uses few of its statements at once. */
export class Statement<Values extends unknown[], Row = unknown> {
  readonly #compile: () => Sqlite.Statement<Values, Row>;
  #compiled: Sqlite.Statement<Values, Row> | undefined;

  constructor(db: Database, sql: string) {
    this.#compile = () => db.prepare<Values, Row>(sql);
  }

  run(...values: Values): Sqlite.RunResult {
    return this.#statement.run(...values);
  }

  get(...values: Values): Row | undefined {
    return this.#statement.get(...values);
  }

  all(...values: Values): Row[] {
    return this.#statement.all(...values);
  }

  get #statement(): Sqlite.Statement<Values, Row> {
    this.#compiled ??= this.#compile();
    return this.#compiled;
  }
}
