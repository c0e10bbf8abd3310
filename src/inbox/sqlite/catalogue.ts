import type { Database, Statement } from "better-sqlite3";
import type { InboxListOptions, InboxPage } from "../admin.ts";
import {
  type EventRow,
  type PageRow,
  pageSize,
  placeOf,
  toPage,
  toSummary,
} from "../event-rows.ts";
import { type EventDetails, type EventState, eventStates, type StepRecord } from "../records.ts";
import type { History } from "./history.ts";

type Parameters = [Record<string, unknown>];

interface StepRow extends Omit<StepRecord, "result" | "ref"> {
  readonly result: string | null;
  readonly ref: string | null;
}

const EVENT = `event.seq, event.id, event.type, event.lane, event.state, event.source, event.attempts,
  event.received_at, event.done_at, event.error, event.reason,
  event.state = 'pending' AND lane.owner IS NOT NULL AND lane.fence = event.fence
    AND lane.ready_at > @now AS leased
  FROM event LEFT JOIN lane ON lane.key = event.lane`;

/** What each list holds and the time that it is sorted by, so that an index serves it. */
const lists: Readonly<Record<EventState | "all", { readonly where: string; readonly at: string }>> =
  {
    pending: { where: "event.state = 'pending'", at: "event.received_at" },
    done: { where: "event.state <> 'pending' AND event.state = 'done'", at: "event.done_at" },
    dead: { where: "event.state = 'dead'", at: "event.done_at" },
    discarded: { where: "event.state = 'discarded'", at: "event.done_at" },
    all: { where: "TRUE", at: "event.seq" },
  };

/** Finds events for people to look at. */
export class Catalogue {
  readonly #history: History;
  readonly #pages: ReadonlyMap<EventState | undefined, Statement<Parameters, PageRow>>;
  readonly #event: Statement<Parameters, EventRow & { readonly body: string | null }>;
  readonly #steps: Statement<Parameters, StepRow>;

  constructor(db: Database, history: History) {
    this.#history = history;
    this.#pages = new Map(
      [...eventStates, undefined].map((state) => [state, db.prepare(pageOf(state))]),
    );
    this.#event = db.prepare(`SELECT event.body, ${EVENT} WHERE event.id = @id`);
    this.#steps = db.prepare(
      `SELECT name, state, request, result, ref, started_at AS startedAt
       FROM step WHERE event_id = @id ORDER BY started_at, name`,
    );
  }

  /** @throws {ServiceBotError} CURSOR_INVALID */
  list({ state, type, lane, limit, after }: InboxListOptions, now: number): InboxPage {
    const size = pageSize(limit);
    const rows = this.#pages.get(state)?.all({
      type: type ?? null,
      lane: lane ?? null,
      now,
      ...placeOf(after),
      // One more than asked for tells whether there are more.
      limit: size + 1,
    });
    return toPage(rows ?? [], size);
  }

  show(id: string, now: number): EventDetails | undefined {
    const row = this.#event.get({ id, now });
    if (row === undefined) return undefined;
    const steps = this.#steps.all({ id }).map((step) => ({
      ...step,
      result: step.result ?? undefined,
      ref: step.ref ?? undefined,
    }));
    const body = row.body ?? undefined;
    return { ...toSummary(row), body, history: this.#history.of(id), steps };
  }
}

function pageOf(state: EventState | undefined): string {
  const { where, at } = lists[state ?? "all"];
  return `SELECT ${at} AS at, ${EVENT} WHERE ${where}
    AND (@type IS NULL OR event.type = @type) AND (@lane IS NULL OR event.lane = @lane)
    AND (${at}, event.seq) < (@at, @seq)
    ORDER BY ${at} DESC, event.seq DESC LIMIT @limit`;
}
