import type { Database, Statement } from "better-sqlite3";
import { exportedList, valuesOf } from "../event-rows.ts";
import { widenedMark } from "../restored.ts";
import {
  foreignFence,
  TRANSFER_BATCH,
  type Transfer,
  type TransferFilter,
  type WholeEvent,
} from "../transfer.ts";
import { Catalogue } from "./catalogue.ts";
import { FITS } from "./fits.ts";
import { readStore } from "./group-commit.ts";
import { History } from "./history.ts";
import { storedMark, storeMark } from "./restore-mark.ts";

type Parameters = [Record<string, unknown>];
type Write = Statement<Parameters>;

export interface SqliteTransferOptions {
  /** A connection that nothing else writes by while events are read. */
  readonly db: Database;
  readonly now: () => number;
  readonly write: <T>(work: () => T) => Promise<T>;
}

/** Gives away the events of a file, and takes events into it. */
export function sqliteTransfer({ db, now, write }: SqliteTransferOptions): Transfer {
  const catalogue = new Catalogue(db, new History(db));
  const intake = new Intake(db);
  const known = db
    .prepare<[string]>("SELECT count(*) FROM event WHERE id IN (SELECT value FROM json_each(?))")
    .pluck();
  return {
    count: async (filter) =>
      readStore(() => Number(select(db, "count(*)", filter).pluck().get(valuesOf(filter)))),
    read: (filter, take) =>
      inSnapshot(db, async () => {
        let batch: WholeEvent[] = [];
        for (const id of idsOf(db, filter)) {
          const event = catalogue.whole(id, now());
          if (event !== undefined) batch.push(event);
          if (batch.length < TRANSFER_BATCH) continue;
          await take(batch);
          batch = [];
        }
        if (batch.length > 0) await take(batch);
      }),
    write: (events) =>
      write(() => new Set(events.filter((one) => intake.store(one, now())).map(({ id }) => id))),
    mark: async () => readStore(() => storedMark(db)),
    takeMark: (other) => write(() => storeMark(db, widenedMark(storedMark(db), other))),
    known: async (ids) => readStore(() => Number(known.get(JSON.stringify(ids)))),
  };
}

function select(db: Database, what: string, { state }: TransferFilter): Statement<Parameters> {
  const { where, at } = exportedList(state);
  return db.prepare<Parameters>(
    `SELECT ${what} FROM event WHERE ${where} AND ${FITS} AND ${at} >= @since AND ${at} < @until`,
  );
}

function idsOf(db: Database, filter: TransferFilter): Iterable<string> {
  const { where, at } = exportedList(filter.state);
  return db
    .prepare<Parameters, string>(
      `SELECT event.id FROM event WHERE ${where} AND ${FITS} AND ${at} >= @since AND ${at} < @until
       ORDER BY event.id`,
    )
    .pluck()
    .iterate(valuesOf(filter));
}

/** What others write meanwhile is not seen. */
async function inSnapshot(db: Database, work: () => Promise<void>): Promise<void> {
  readStore(() => db.exec("BEGIN"));
  try {
    await work();
  } finally {
    db.exec("COMMIT");
  }
}

/** Stores events that come from another inbox. Runs inside a transaction. */
class Intake {
  readonly #event: Write;
  readonly #attempt: Write;
  readonly #step: Write;
  readonly #enterLane: Write;
  readonly #passLane: Write;
  readonly #endLane: Write;

  constructor(db: Database) {
    this.#event = db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, attempts, crashes, received_at, done_at, error, reason, trace)
       VALUES (@id, @lane, @ord, @type, @body, @source, @state, @attempts, @crashes, @receivedAt, @endedAt, @error, @discardReason, @trace)
       ON CONFLICT (id) DO NOTHING`,
    );
    this.#attempt = db.prepare(
      `INSERT INTO attempt (event_id, fence, number, outcome, error, ended_at)
       VALUES (@id, @fence, @number, @outcome, @error, @endedAt)`,
    );
    this.#step = db.prepare(
      `INSERT INTO step (event_id, name, state, request, result, ref, fence, started_at)
       VALUES (@id, @name, @state, @request, @result, @ref, 0, @startedAt)`,
    );
    // As a batch that comes in does it: a lane that is leased or waits for a retry keeps its time.
    this.#enterLane = db.prepare(
      `INSERT INTO lane (key, pending, ready_at) VALUES (@lane, @pending, @readyAt)
       ON CONFLICT (key) DO UPDATE
         SET pending = pending + excluded.pending, ready_at = coalesce(ready_at, excluded.ready_at)`,
    );
    // Apart, for a lane that wakes gets what is known of it after it was made.
    this.#passLane = db.prepare(
      `UPDATE lane SET done_ord = max(coalesce(done_ord, ''), @ord), done_at = max(coalesce(done_at, 0), @endedAt)
       WHERE key = @lane`,
    );
    // What was discarded was not handled in its turn, but it keeps the lane as long as anything that ended.
    this.#endLane = db.prepare(
      "UPDATE lane SET done_at = max(coalesce(done_at, 0), @endedAt) WHERE key = @lane",
    );
  }

  /** False where the id is known. */
  store(event: WholeEvent, now: number): boolean {
    const { id, lane, ord, state, history, steps, ...rest } = event;
    const { type, source, attempts, crashes, receivedAt } = rest;
    const texts = {
      body: rest.body ?? null,
      endedAt: rest.endedAt ?? null,
      error: rest.error ?? null,
      discardReason: rest.discardReason ?? null,
      trace: rest.trace ?? null,
    };
    const row = { id, lane, ord, state, type, source, attempts, crashes, receivedAt, ...texts };
    if (this.#event.run(row).changes === 0) return false;
    for (const [index, run] of history.entries()) {
      const fence = foreignFence(index, history.length);
      this.#attempt.run({ ...run, id, fence, error: run.error ?? null });
    }
    for (const step of steps) {
      this.#step.run({ ...step, id, result: step.result ?? null, ref: step.ref ?? null });
    }
    const pending = state === "pending";
    const readyAt = pending ? Math.min(receivedAt, now) : null;
    this.#enterLane.run({ lane, pending: Number(pending), readyAt });
    if (state === "discarded") this.#endLane.run({ lane, endedAt: row.endedAt });
    else if (!pending) this.#passLane.run({ lane, ord, endedAt: row.endedAt });
    return true;
  }
}
