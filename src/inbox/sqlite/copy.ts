import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { columnsOf, type Row, type Table } from "../copy.ts";
import { clearMark, readMark, setMark } from "../sql/marks.ts";
import { fromStored } from "../stored-text.ts";
import { History } from "./history.ts";
import { Lanes } from "./lanes.ts";
import { canonical, takeLock } from "./lock.ts";
import { openExisting } from "./open.ts";
import { EVERY_LANE } from "./retention.ts";
import { dialect, execute } from "./store.ts";
import { readStore } from "./store-error.ts";

const BATCH = 1_000;

const STOP_IT = "Stop it first; otherwise the copy would miss its changes.";

/** Returns the statement that reads a table in key order. Resting lanes are included. */
export function selectAll(table: Table): string {
  return `SELECT ${columnsOf(table)} FROM ${rowsOf(table)} ORDER BY ${table.key.join(", ")}`;
}

/** The lanes with the columns of PostgreSQL. The fences of a lane continue after all fences of the file. */
const LANES = `(
  SELECT key, ready_at, NULL AS owner, done_ord, done_at,
    (SELECT count(*) FROM event WHERE event.lane = every.key AND state = 'pending') AS pending,
    (SELECT CAST(position AS INTEGER) FROM cursor WHERE name = 'fence') AS fence
  FROM ${EVERY_LANE} AS every)`;

/** The cursors of the bot, without the marks of this file. */
const CURSORS = "(SELECT * FROM cursor WHERE name NOT IN ('fence', 'lanes'))";

function rowsOf({ name }: Table): string {
  if (name === "cursor") return CURSORS;
  return name === "lane" ? LANES : name;
}

/** An inbox file that is being copied. No bot can open the file until this object is closed. */
export class CopySource {
  /** Absolute URL of the file. */
  readonly place: string;
  readonly #db: Database;
  readonly #lock: Database;

  /** @throws {ServiceBotError} INBOX_MISSING, INBOX_IN_USE, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNUSABLE */
  constructor(file: string) {
    this.place = `file:${canonical(resolve(file))}`;
    // Check before locking, because the lock would create a missing file's folder.
    openExisting(file).close();
    this.#lock = takeLock(resolve(file), STOP_IT);
    try {
      this.#db = openExisting(file);
    } catch (error) {
      this.#lock.close();
      throw error;
    }
  }

  /** Returns the target of an earlier copy, or `undefined` if the inbox was never copied. */
  movedTo(): string | undefined {
    const mark = readStore(() => execute(this.#db, readMark(dialect)));
    return mark?.role === "source" ? mark.other : undefined;
  }

  /** Ends the runs that the last bot left unfinished, as the bot's next startup would. */
  endRuns(): void {
    this.#write(() => new Lanes(this.#db).recover(new History(this.#db), Date.now()));
  }

  count(table: Table): number {
    const counted = this.#db.prepare<[], number>(`SELECT count(*) FROM ${rowsOf(table)}`);
    return readStore(() => counted.pluck().get() ?? 0);
  }

  *batches(table: Table): Generator<readonly Row[]> {
    let batch: Row[] = [];
    for (const row of this.#db.prepare<[], Row>(selectAll(table)).raw().iterate()) {
      batch.push(row.map((cell) => (typeof cell === "string" ? fromStored(cell) : cell)));
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  leave(to: string): void {
    const mark = { role: "source", other: to, run: randomUUID() } as const;
    this.#write(() => execute(this.#db, setMark(mark)));
  }

  /** Removes the mark, so that bots may use the file again. Returns false if there was no mark. */
  reopen(): boolean {
    if (this.movedTo() === undefined) return false;
    this.#write(() => execute(this.#db, clearMark()));
    return true;
  }

  close(): void {
    this.#db.close();
    this.#lock.close();
  }

  #write(work: () => void): void {
    readStore(() => this.#db.transaction(work).immediate());
  }
}
