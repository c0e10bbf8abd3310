import type { Database } from "better-sqlite3";
import { TransactionMap } from "./transaction-map.ts";

/** Ends of runs in a lane that its row does not include yet. Times are in ms since 1970. */
interface Unwritten {
  /** When the first of these events ended. */
  readonly since: number;
  /** When the last of them ended. */
  readonly doneAt: number;
}

/** The last done event of an idle lane, as its sort key. An empty key sorts before every other key. */
type LastDoneKey = string;

/** Maximum number of lanes in memory. */
const MAX_KNOWN = 10_000;

/** Number of unwritten lanes from which the oldest are written with the next end, and how many. */
const MAX_UNWRITTEN = 2_000;
const BATCH = 50;

const statementsIn = (db: Database) => ({
  row: db.prepare<
    [lane: string],
    { readonly ready_at: number | null; readonly done_ord: string | null }
  >("SELECT ready_at, done_ord FROM lane WHERE key = ?"),
  resting: db
    .prepare<[lane: string], string | null>("SELECT done_ord FROM resting_lane WHERE key = ?")
    .pluck(),
  write: db.prepare<[lane: string, ord: string, at: number]>(
    `INSERT INTO lane (key, done_ord, done_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE
       SET done_ord = max(coalesce(done_ord, ''), excluded.done_ord), done_at = excluded.done_at`,
  ),
  mark: db.prepare<[at: number]>("UPDATE cursor SET position = ? WHERE name = 'lanes'"),
});

/**
 * Remembers the last done event of each lane, to detect late events. The rows are written later and together, because
 * a row per event would write a page of the file per event. After a crash, {@link History} restores the rows from the
 * events themselves.
 */
export class LastDone {
  readonly #sql: ReturnType<typeof statementsIn>;
  /** Idle lanes. Their rows have no time. */
  readonly #known = new TransactionMap<LastDoneKey>();
  /** Oldest first. */
  readonly #unwritten = new TransactionMap<Unwritten>();

  constructor(db: Database) {
    this.#sql = statementsIn(db);
  }

  /** Returns a lane's last done event, or `undefined` if the lane's row has a time, because the lane waits. */
  of(lane: string): LastDoneKey | undefined {
    const known = this.#known.get(lane);
    if (known !== undefined) return known;
    const row = this.#sql.row.get(lane);
    if (row !== undefined && row.ready_at !== null) return undefined;
    const key = (row === undefined ? this.#sql.resting.get(lane) : row.done_ord) ?? "";
    if (this.#known.size >= MAX_KNOWN) this.#forgetWritten();
    this.#known.set(lane, key);
    return key;
  }

  /** Notes the last done event of a lane whose row no longer has a time. */
  learn(lane: string, key: string | null): void {
    this.#known.set(lane, key ?? "");
  }

  /** Notes that an event of an idle lane has ended as done. */
  note(lane: string, ord: string, now: number): void {
    const known = this.of(lane) ?? "";
    this.#known.set(lane, ord > known ? ord : known);
    const since = this.#unwritten.get(lane)?.since ?? now;
    this.#unwritten.set(lane, { since, doneAt: now });
    if (this.#unwritten.size > MAX_UNWRITTEN) this.writeOldest(BATCH, now);
  }

  /** Writes a lane's row, and forgets the lane, because its row is about to get a time. */
  settle(lane: string): void {
    this.#write(lane);
    this.#known.delete(lane);
  }

  /** Writes the lanes that have been unwritten for longest. Returns true if unwritten lanes are left. */
  writeOldest(limit: number, now: number): boolean {
    let written = 0;
    for (const lane of this.#unwritten.keys()) {
      if (written === limit) break;
      this.#write(lane);
      written += 1;
    }
    const [oldest] = this.#unwritten.values();
    this.#sql.mark.run(oldest?.since ?? now);
    return oldest !== undefined;
  }

  /** Writes every lane, and forgets them, because other statements may change the rows. */
  writeAll(now: number): void {
    if (this.#unwritten.size > 0) this.writeOldest(this.#unwritten.size, now);
    this.#known.clear();
  }

  committed(): void {
    this.#known.committed();
    this.#unwritten.committed();
  }

  undone(): void {
    this.#known.undone();
    this.#unwritten.undone();
  }

  #write(lane: string): void {
    const unwritten = this.#unwritten.get(lane);
    if (unwritten === undefined) return;
    this.#sql.write.run(lane, this.#known.get(lane) ?? "", unwritten.doneAt);
    this.#unwritten.delete(lane);
  }

  #forgetWritten(): void {
    for (const lane of this.#known.keys()) {
      if (!this.#unwritten.has(lane)) this.#known.delete(lane);
    }
  }
}
