import type { Database } from "better-sqlite3";
import { batchesOf, columnsOf, type Row, selectBatch, type Table } from "../copy/tables.ts";
import { readStore } from "./group-commit.ts";
import { EVERY_LANE } from "./retention.ts";

/** A copy knows one table of lanes. One that is made here gets them all in it: what is idle comes to rest by itself. */
function allOf({ name }: Table): string {
  return name === "lane" ? EVERY_LANE : name;
}

/** Rows of the tables of an inbox, as a copy reads and writes them. */
export class CopyRows {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  count(table: Table): number {
    return Number(
      this.#db
        .prepare(`SELECT count(*) FROM ${allOf(table)}`)
        .pluck()
        .get(),
    );
  }

  read(table: Table): AsyncIterable<readonly Row[]> {
    const prepare = (after: readonly string[]) =>
      this.#db.prepare<unknown[], Row>(selectBatch(table, allOf(table), after)).raw();
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
    return all.every(
      (table) => this.#db.prepare(`SELECT 1 FROM ${allOf(table)}`).get() === undefined,
    );
  }
}
