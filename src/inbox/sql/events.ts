import { traceIdOf } from "../../core/trace.ts";
import { ServiceBotError } from "../../errors.ts";
import type {
  AttemptRecord,
  EventDetails,
  EventState,
  EventSummary,
  InboxFilter,
  InboxListOptions,
  InboxPage,
  StepRecord,
} from "../admin.ts";
import { ABSENT } from "../restore-mark.ts";
import type { Dialect, SqlStore } from "./store.ts";

const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;

/** Smaller than every event's `seq`, or equal to it. */
const FIRST_SEQ = 0;

interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly state: EventState;
  readonly source: EventSummary["source"];
  readonly attempts: number;
  readonly leased: number;
  readonly received_at: number;
  readonly trace: string | null;
  readonly done_at: number | null;
  readonly error: string | null;
  readonly reason: string | null;
}

interface PageRow extends EventRow {
  /** Time by which the list is sorted. */
  readonly at: number;
}

type WholeRow = EventRow & { readonly body: string | null };

interface AttemptRow {
  readonly number: number;
  readonly outcome: AttemptRecord["outcome"];
  readonly error: string | null;
  readonly endedAt: number;
}

interface StepRow extends Omit<StepRecord, "result" | "ref"> {
  readonly result: string | null;
  readonly ref: string | null;
}

/** Returns the columns of an event. The current attempt is shown although it is counted only when it ends. */
const eventIn = ({ isClaimed, isLeased }: Dialect) => {
  const pending = (condition: string) =>
    `CASE WHEN event.state = 'pending' AND ${condition} THEN 1 ELSE 0 END`;
  return `event.seq, event.id, event.type, event.lane, event.state, event.source,
    event.attempts + ${pending(isClaimed)} AS attempts,
    event.received_at, event.trace, event.done_at, event.error, event.reason, ${pending(isLeased)} AS leased
    FROM {schema}.event LEFT JOIN {schema}.lane ON lane.key = event.lane`;
};

const HISTORY = `
SELECT number, outcome, error, ended_at AS "endedAt" FROM {schema}.attempt
WHERE event_id = $1 ORDER BY ended_at, fence`;

const STEPS = `
SELECT name, state, request, result, ref, started_at AS "startedAt"
FROM {schema}.step WHERE event_id = $1 AND fence <> ${ABSENT} ORDER BY started_at, name`;

/** Returns the column by which events in a state are sorted and filtered. */
export function timeOf(state: EventState | "ended"): string {
  return state === "pending" ? "event.received_at" : "event.done_at";
}

/**
 * Returns the SQL condition for events that match the values from {@link fieldsOf}, `$1` to `$5`. Stored errors begin
 * with their name and code.
 */
export function fits({ position }: Dialect): string {
  const head = `substr(event.error, 1, ${position("': '", "event.error")})`;
  return `(CAST($1 AS text) IS NULL OR event.type = $1)
    AND (CAST($2 AS text) IS NULL OR event.lane = $2)
    AND (CAST($3 AS text) IS NULL OR event.source = $3)
    AND (CAST($4 AS text) IS NULL OR ${position("$4", "event.error")} > 0)
    AND (CAST($5 AS text) IS NULL OR ${position("' ' || $5 || ':'", head)} > 0)`;
}

/** Returns a filter's fields except its times. Null matches anything. */
export function fieldsOf({ type, lane, source, error, code }: InboxFilter): (string | null)[] {
  return [type ?? null, lane ?? null, source ?? null, error ?? null, code ?? null];
}

/** Returns a filter's times. The defaults include all times. */
export function timesOf({ since = 0, until = Number.MAX_SAFE_INTEGER }: InboxFilter): {
  readonly since: number;
  readonly until: number;
} {
  return { since: wholeMs(since), until: wholeMs(until) };
}

/** Returns the first whole millisecond at or after a time. */
function wholeMs(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), Number.MAX_SAFE_INTEGER);
}

/** Clamps a `limit`, which may be any number. */
export function pageSize(limit: number | undefined): number {
  return Math.min(Math.max(Math.trunc(limit ?? PAGE_SIZE) || 1, 1), MAX_PAGE_SIZE);
}

export class Events {
  readonly #store: SqlStore;

  constructor(store: SqlStore) {
    this.#store = store;
  }

  /** @throws {ServiceBotError} CURSOR_INVALID */
  async list({ state, limit, after, ...filter }: InboxListOptions): Promise<InboxPage> {
    const size = pageSize(limit);
    const { since, until } = timesOf(filter);
    const [at, seq] = startOf(after, until);
    // One extra row shows whether there is a next page.
    const values = [...fieldsOf(filter), since, at, seq, size + 1];
    const rows = await this.#store.rows<PageRow>(pageOf(state, this.#store.dialect), values);
    const last = rows.length > size ? rows[size - 1] : undefined;
    return {
      events: rows.slice(0, size).map(toSummary),
      next: last && `${last.at}-${last.seq}`,
    };
  }

  async show(id: string): Promise<EventDetails | undefined> {
    const one = `SELECT event.body, ${eventIn(this.#store.dialect)} WHERE event.id = $1`;
    const [row] = await this.#store.rows<WholeRow>(one, [id]);
    if (row === undefined) return undefined;
    const history = await this.#store.rows<AttemptRow>(HISTORY, [id]);
    const steps = await this.#store.rows<StepRow>(STEPS, [id]);
    return {
      ...toSummary(row),
      body: row.body ?? undefined,
      history: history.map((run) => ({ ...run, error: run.error ?? undefined })),
      steps: steps.map((step) => ({
        ...step,
        result: step.result ?? undefined,
        ref: step.ref ?? undefined,
      })),
    };
  }
}

/** Merges one list per state, each sorted by an index. */
function pageOf(state: EventState | undefined, dialect: Dialect): string {
  const states = state === undefined ? (["pending", "ended"] as const) : [state];
  const parts = states.flatMap((one) =>
    dialect.indexes[one].map(
      (where) =>
        `SELECT ${timeOf(one)} AS at, ${eventIn(dialect)} WHERE ${where}
         AND ${fits(dialect)} AND ${timeOf(one)} >= $6 AND (${timeOf(one)}, event.seq) < ($7, $8)
         ORDER BY ${timeOf(one)} DESC, event.seq DESC LIMIT $9`,
    ),
  );
  const lists = parts.map((part, nth) => `SELECT * FROM (${part}) AS list_${nth}`);
  return `${lists.join(" UNION ALL ")} ORDER BY at DESC, seq DESC LIMIT $9`;
}

/**
 * Returns the position after which a page starts. Without `after`, it is `until`.
 *
 * @param after the previous page's `next`
 * @throws {ServiceBotError} CURSOR_INVALID
 */
function startOf(after: string | undefined, until: number): [at: number, seq: number] {
  if (after === undefined) return [until, FIRST_SEQ];
  const [, at, seq] = /^(\d{1,16})-(\d{1,16})$/.exec(after) ?? [];
  if (at === undefined || seq === undefined) {
    throw new ServiceBotError(
      "CURSOR_INVALID",
      `Invalid cursor "${after}". Pass the "next" value from the previous page.`,
    );
  }
  return until > Number(at) ? [Number(at), Number(seq)] : [until, FIRST_SEQ];
}

function toSummary(row: EventRow): EventSummary {
  const { id, type, lane, state, source, attempts } = row;
  return {
    ...{ id, type, lane, state, source, attempts },
    leased: row.leased === 1,
    receivedAt: row.received_at,
    trace: traceIdOf(row.trace ?? undefined),
    endedAt: row.done_at ?? undefined,
    error: row.error ?? undefined,
    discardReason: row.reason ?? undefined,
  };
}
