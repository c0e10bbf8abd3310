import type { Database, Statement } from "better-sqlite3";
import type { Retention } from "../inbox.ts";
import type { EventState } from "../records.ts";
import { RestingLanes } from "./resting-lanes.ts";

type Parameters = [Record<string, unknown>];

interface EndedRow {
  readonly seq: number;
  readonly id: string;
  readonly state: EventState;
  readonly done_at: number;
  readonly has_body: number;
}

/** So many rows are looked at in one transaction, so that deliveries need not wait for it. */
const BATCH = 500;

/** Free pages are kept for what comes next; beyond a tenth of the file, and 4 MB, they are given back. */
const SPARE_PAGES = 1_024;
const SPARE_SHARE = 0.1;
const VACUUM_PAGES = 256;

const START = { at: Number.NEGATIVE_INFINITY, seq: 0 };

type Phase = "events" | "lanes" | "resting lanes" | "pages";

/**
 * Drops what is older than it need be, in small batches: first bodies and events, then lanes that
 * nothing has happened in, which come to rest before, then free pages. Runs inside a transaction.
 */
export class Sweeper {
  readonly #db: Database;
  readonly #ended: Statement<Parameters, EndedRow>;
  readonly #drop: Statement<Parameters>;
  readonly #strip: readonly Statement<Parameters>[];
  readonly #resting: RestingLanes;
  #phase: Phase = "events";
  #position = START;

  constructor(db: Database) {
    this.#db = db;
    this.#ended = db.prepare(
      `SELECT seq, id, state, done_at, body IS NOT NULL AS has_body FROM event
       WHERE state <> 'pending' AND done_at < @before AND (done_at, seq) > (@at, @seq)
       ORDER BY done_at, seq LIMIT ${BATCH}`,
    );
    this.#drop = db.prepare("DELETE FROM event WHERE seq = @seq");
    this.#strip = [
      db.prepare("UPDATE event SET body = NULL WHERE seq = @seq"),
      db.prepare("DELETE FROM step WHERE event_id = @id"),
      db.prepare("DELETE FROM attempt WHERE event_id = @id"),
    ];
    this.#resting = new RestingLanes(db);
  }

  /** One batch. True while there is more to look at; after that it begins from the start. */
  sweep(keep: Retention, now: number): boolean {
    switch (this.#phase) {
      case "events":
        return this.#next(this.#sweepEvents(keep, now), "lanes");
      case "lanes":
        return this.#next(this.#resting.rest(keep, now), "resting lanes");
      case "resting lanes":
        return this.#next(this.#resting.forget(keep, now), "pages");
      case "pages":
        this.#next(this.#freePages(), "events");
        return this.#phase === "pages";
    }
  }

  #next(more: boolean, next: Phase): true {
    if (!more) this.#phase = next;
    return true;
  }

  #sweepEvents(keep: Retention, now: number): boolean {
    const before = now - Math.min(keep.bodiesMs, keep.idsMs, keep.deadLettersMs);
    const rows = this.#ended.all({ before, ...this.#position });
    for (const { seq, id, state, done_at, has_body } of rows) {
      const age = now - done_at;
      if (age > (state === "dead" ? keep.deadLettersMs : keep.idsMs)) this.#drop.run({ seq });
      else if (has_body && state !== "dead" && age > keep.bodiesMs) {
        for (const statement of this.#strip) statement.run({ seq, id });
      }
    }
    const last = rows.at(-1);
    const more = rows.length === BATCH && last !== undefined;
    this.#position = more ? { at: last.done_at, seq: last.seq } : START;
    return more;
  }

  #freePages(): boolean {
    const free = Number(this.#db.pragma("freelist_count", { simple: true }));
    const pages = Number(this.#db.pragma("page_count", { simple: true }));
    if (free <= Math.max(SPARE_PAGES, pages * SPARE_SHARE)) return false;
    this.#db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
    return true;
  }
}
