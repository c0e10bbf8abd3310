import type { Database } from "better-sqlite3";
import { batchesOf, columnsOf, type Row, selectBatch, type Table } from "../copy/tables.ts";
import { readStore } from "./group-commit.ts";

/** Rows of the tables of an inbox, as a copy reads and writes them. */
export class CopyRows {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  count({ name }: Table): number {
    return Number(this.#db.prepare(`SELECT count(*) FROM ${name}`).pluck().get());
  }

  read(table: Table): AsyncIterable<readonly Row[]> {
    const prepare = (after: readonly string[]) =>
      this.#db.prepare<unknown[], Row>(selectBatch(table, after).replace("{schema}", "main")).raw();
    const first = prepare([]);
    const next = prepare(table.key.map(() => "?"));
    return batchesOf(table, async (after) =>
      readStore(() => (after === undefined ? first.all() : next.all(...after))),
    );
  }

  /** Runs inside a transaction. */
  write(table: Table, rows: readonly Row[]): void {
    const places = table.columns.map(() => "?").join(", ");
    const insert = this.#db.prepare(
      `INSERT INTO ${table.name} (${columnsOf(table)}) VALUES (${places})`,
    );
    for (const row of rows) insert.run(...row);
  }

  /** Runs inside a transaction. */
  clear(all: readonly Table[]): void {
    // Backwards, for a table refers to those before it.
    for (const { name } of all.toReversed()) this.#db.exec(`DELETE FROM ${name}`);
  }

  isEmpty(all: readonly Table[]): boolean {
    return all.every(({ name }) => this.#db.prepare(`SELECT 1 FROM ${name}`).get() === undefined);
  }
}
