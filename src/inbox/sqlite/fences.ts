import type { Database } from "better-sqlite3";

/** Fences reserved at once, so that few claims write the reservation. */
const BLOCK = 1_048_576;

const statementsIn = (db: Database) => ({
  first: db
    .prepare<[], number>("SELECT CAST(position AS INTEGER) FROM cursor WHERE name = 'fence'")
    .pluck(),
  reserve: db.prepare<[first: string]>("UPDATE cursor SET position = ? WHERE name = 'fence'"),
});

/** Numbers the claims in a file. No number is used twice, even if the process is killed. */
export class Fences {
  readonly #sql: ReturnType<typeof statementsIn>;
  #next = 0;
  /** First fence that is not reserved for this process. */
  #end = 0;

  constructor(db: Database) {
    this.#sql = statementsIn(db);
  }

  /** Must be called inside a transaction. */
  next(): number {
    if (this.#next === this.#end) {
      this.#next = this.#sql.first.get() ?? 1;
      this.#end = this.#next + BLOCK;
      this.#sql.reserve.run(String(this.#end));
    }
    this.#next += 1;
    return this.#next - 1;
  }

  /** Called once the transaction is rolled back, because it may have reserved the block. */
  undone(): void {
    this.#next = this.#end;
  }
}
