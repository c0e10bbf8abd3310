import { traceIdOf } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import type { InboxFilter, InboxPage } from "./admin.ts";
import type {
  AttemptRecord,
  EventDetails,
  EventState,
  EventSummary,
  StepRecord,
} from "./records.ts";

/** An event as the stores keep it, with what makes a summary of it. */
export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly state: EventState;
  readonly source: EventSummary["source"];
  readonly attempts: number;
  /** Null where its lane is gone; SQLite has 0 and 1. */
  readonly leased: boolean | number | null;
  readonly received_at: number;
  readonly trace: string | null;
  readonly done_at: number | null;
  readonly error: string | null;
  readonly reason: string | null;
}

export interface WholeRow extends EventRow {
  readonly body: string | null;
}

export interface StepRow extends Omit<StepRecord, "result" | "ref"> {
  readonly result: string | null;
  readonly ref: string | null;
}

export interface AttemptRow {
  readonly number: number;
  readonly outcome: AttemptRecord["outcome"];
  readonly error: string | null;
  readonly ended_at: number;
}

/** An event in a list that is sorted by `at`. */
export interface PageRow extends EventRow {
  readonly at: number;
}

/** What each list holds and the time that it is sorted by, so that an index serves it. */
export const lists: Readonly<
  Record<EventState | "ended", { readonly where: string; readonly at: string }>
> = {
  pending: { where: "event.state = 'pending'", at: "event.received_at" },
  done: { where: "event.state <> 'pending' AND event.state = 'done'", at: "event.done_at" },
  dead: { where: "event.state = 'dead'", at: "event.done_at" },
  discarded: { where: "event.state = 'discarded'", at: "event.done_at" },
  ended: { where: "event.state <> 'pending'", at: "event.done_at" },
};

/** A place in a list: what comes after it is smaller. */
interface Place {
  readonly at: number;
  readonly seq: number;
}

/** Where the first page begins. */
const START: Place = { at: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

const MOST = 1_000;

/** How many events a page has at most. */
export function pageSize(limit = 50): number {
  return Math.min(Math.max(Math.trunc(limit) || 1, 1), MOST);
}

/**
 * Reads the `next` of the page before.
 *
 * @throws {ServiceBotError} CURSOR_INVALID
 */
function placeOf(after: string | undefined): Place {
  if (after === undefined) return START;
  const [, at, seq] = /^(\d{1,16})-(\d{1,16})$/.exec(after) ?? [];
  if (at !== undefined && seq !== undefined) return { at: Number(at), seq: Number(seq) };
  throw new ServiceBotError(
    "CURSOR_INVALID",
    `"${after}" is no place in a list. Pass "next" of the page before, or nothing to begin at the top.`,
  );
}

/** The page that begins there, of the events before `until` alone. */
export function startOf({ until }: InboxFilter, after: string | undefined): Place {
  const place = placeOf(after);
  return until === undefined || until > place.at ? place : { at: whole(until), seq: NONE };
}

/** What of a filter a statement is given, with what stands for everything where nothing is asked for. */
export function valuesOf({ type, lane, source, error, code, since, until }: InboxFilter): {
  readonly [Name in Exclude<keyof InboxFilter, "since" | "until">]-?: string | null;
} & { readonly since: number; readonly until: number } {
  return {
    type: type ?? null,
    lane: lane ?? null,
    source: source ?? null,
    error: error ?? null,
    code: code ?? null,
    since: whole(since ?? 0),
    until: whole(until ?? Number.MAX_SAFE_INTEGER),
  };
}

/** No event has a number below. */
const NONE = 0;

/** The first whole millisecond from there on. */
function whole(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), Number.MAX_SAFE_INTEGER);
}

/** @param rows one more than `size` where there are more */
export function toPage(rows: readonly PageRow[], size: number): InboxPage {
  const last = rows[size - 1];
  const next = rows.length > size && last !== undefined ? `${last.at}-${last.seq}` : undefined;
  return { events: rows.slice(0, size).map(toSummary), next };
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
    leased: Boolean(row.leased),
    receivedAt: row.received_at,
    trace: traceIdOf(row.trace ?? undefined),
    endedAt: row.done_at ?? undefined,
    error: row.error ?? undefined,
    discardReason: row.reason ?? undefined,
  };
}

export function toDetails(
  row: WholeRow,
  history: readonly AttemptRecord[],
  steps: readonly StepRow[],
): EventDetails {
  return {
    ...toSummary(row),
    body: row.body ?? undefined,
    history,
    steps: steps.map((step) => ({
      ...step,
      result: step.result ?? undefined,
      ref: step.ref ?? undefined,
    })),
  };
}

export function toAttempt({ number, outcome, error, ended_at }: AttemptRow): AttemptRecord {
  return { number, outcome, error: error ?? undefined, endedAt: ended_at };
}
