import type { Database, Statement } from "better-sqlite3";
import { ServiceBotError } from "../../errors.ts";
import type { EventPage, ListOptions } from "../admin.ts";
import {
  type EventDetails,
  type EventState,
  type EventSummary,
  eventStates,
  type StepRecord,
} from "../records.ts";
import type { History } from "./history.ts";

type Parameters = [Record<string, unknown>];

interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly state: EventState;
  readonly source: EventSummary["source"];
  readonly attempts: number;
  readonly leased: number | null;
  readonly received_at: number;
  readonly done_at: number | null;
  readonly error: string | null;
  readonly reason: string | null;
}

interface PageRow extends EventRow {
  readonly at: number;
}

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

/** Where the first page begins. */
const START = { at: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

const MOST = 1_000;

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
  list({ state, type, lane, limit = 50, after }: ListOptions, now: number): EventPage {
    const most = Math.min(Math.max(Math.trunc(limit) || 1, 1), MOST);
    const rows =
      this.#pages.get(state)?.all({
        type: type ?? null,
        lane: lane ?? null,
        now,
        ...(after === undefined ? START : readCursor(after)),
        // One more than asked for tells whether there are more.
        limit: most + 1,
      }) ?? [];
    const last = rows[most - 1];
    const next = rows.length > most && last !== undefined ? `${last.at}-${last.seq}` : undefined;
    return { events: rows.slice(0, most).map(toSummary), next };
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

function readCursor(text: string): { readonly at: number; readonly seq: number } {
  const [, at, seq] = /^(\d{1,16})-(\d{1,16})$/.exec(text) ?? [];
  if (at !== undefined && seq !== undefined) return { at: Number(at), seq: Number(seq) };
  throw new ServiceBotError(
    "CURSOR_INVALID",
    `"${text}" is no place in a list. Pass "next" of the page before, or nothing to begin at the top.`,
  );
}

function toSummary(row: EventRow): EventSummary {
  const { id, type, lane, state, source, attempts } = row;
  return {
    id,
    type,
    lane,
    state,
    source,
    attempts,
    leased: row.leased === 1,
    receivedAt: row.received_at,
    endedAt: row.done_at ?? undefined,
    error: row.error ?? undefined,
    discardReason: row.reason ?? undefined,
  };
}
