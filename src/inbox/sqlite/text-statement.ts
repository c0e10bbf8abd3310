import type { Database, Statement } from "better-sqlite3";
import { packValue, unpackRow } from "../stored-text.ts";

/**
 * Values are bound by position, because binding by name would take a quarter of the time per event. Conditions that
 * could use an event index write a value as `+?`. Without the plus, SQLite plans the statement again for each value,
 * because the value could match a partial index. Planning takes five times as long as the statement itself. No
 * statement for each event has a RETURNING clause, because SQLite stores its rows in a temporary table first.
 */
export type Values = (string | number | null)[];

/** A prepared statement that converts the texts among its values and in its rows to and from their stored form. */
export class TextStatement<Values extends readonly unknown[], Row extends object = object> {
  readonly #statement: Statement<unknown[], Row>;

  constructor(db: Database, sql: string) {
    this.#statement = db.prepare(sql);
  }

  /** Returns the number of written rows. */
  run(...values: Values): number {
    return this.#statement.run(...values.map(packValue)).changes;
  }

  get(...values: Values): Row | undefined {
    const row = this.#statement.get(...values.map(packValue));
    return row && unpackRow(row);
  }

  all(...values: Values): Row[] {
    return this.#statement.all(...values.map(packValue)).map((row) => unpackRow(row));
  }
}

/** Returns a list of texts in their stored form as JSON, for `json_each`. */
export function packList(list: readonly unknown[]): string {
  return JSON.stringify(list.map(packValue));
}
