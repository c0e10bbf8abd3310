import { setImmediate } from "node:timers/promises";
import { quoteValue } from "../../core/kinds.ts";
import { traceIdOf } from "../../core/trace.ts";
import { ServiceBotError } from "../../errors.ts";
import type { InboxFilter, InboxListOptions, InboxPage } from "../admin.ts";
import { isCausedBy } from "../caused-by.ts";
import type {
  AttemptRecord,
  EventDetails,
  EventState,
  EventSummary,
  SkipReason,
  StepRecord,
} from "../event-records.ts";
import { ABSENT, RESTORED, readRestoreMark } from "../restore-mark.ts";
import type { Dialect, SqlStore } from "./store.ts";
import { runOf, type WaitRow, waitColumns, waitOf } from "./waits.ts";

const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;

/** Smaller than every event's `seq`, or equal to it. */
const FIRST_SEQ = 0;

interface EventRow extends WaitRow {
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
  /** Reason of a discard, or of a run without handlers. */
  readonly reason: string | null;
  /** Time on the store's clock. */
  readonly now: number;
}

interface PageRow extends EventRow {
  /** Time by which the list is sorted. */
  readonly at: number;
  /** Only in a search for a user. */
  readonly body?: string | null;
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
const eventIn = (dialect: Dialect) => {
  const { isClaimed, isLeased } = dialect;
  const pending = (condition: string) =>
    `CASE WHEN event.state = 'pending' AND ${condition} THEN 1 ELSE 0 END`;
  return `event.seq, event.id, event.type, event.lane, event.state, event.source,
    event.attempts + ${pending(isClaimed)} AS attempts,
    event.received_at, event.trace, event.done_at, event.error, event.reason, ${pending(isLeased)} AS leased,
    ${waitColumns(dialect)}, {now} AS now
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
 * Returns the SQL condition for events that match the values from {@link fieldsOf}, `$1` to `$7`. Stored errors begin
 * with their class and code.
 */
export function fits({ position }: Dialect): string {
  const head = `substr(event.error, 1, ${position("': '", "event.error")})`;
  return `(CAST($1 AS text) IS NULL OR event.type = $1)
    AND (CAST($2 AS text) IS NULL OR event.lane = $2)
    AND (CAST($3 AS text) IS NULL OR event.source = $3)
    AND (CAST($4 AS text) IS NULL OR ${position("$4", "event.error")} > 0)
    AND (CAST($5 AS text) IS NULL OR ${position("$5", head)} > 0)
    AND event.received_at >= $6 AND event.received_at < $7`;
}

/** Classes of the errors that are stored without their code, because the class already names it. */
const namedCodes: Readonly<Record<string, string>> = {
  GAVE_UP: "GiveUp",
  RETRY_LATER: "RetryLater",
};

/** Returns the text at the beginning of a stored error with this code. */
function codeIn(code: string): string {
  return Object.hasOwn(namedCodes, code) ? `${namedCodes[code]}:` : ` ${code}:`;
}

/** Returns a filter's fields except its user and the times by which events are sorted. Null matches anything. */
export function fieldsOf(filter: InboxFilter): (string | number | null)[] {
  const { type = null, lane = null, source = null, error = null } = filter;
  const { receivedSince = 0, receivedUntil = Number.MAX_SAFE_INTEGER } = filter;
  const code = filter.code === undefined ? null : codeIn(filter.code);
  return [type, lane, source, error, code, wholeMs(receivedSince), wholeMs(receivedUntil)];
}

/** Difference that a clock may have been set back by while an event was in the inbox, in ms. */
const MAX_SET_BACK_MS = 86_400_000;

/** Returns the range of the times by which events are sorted. The defaults include all times. */
export function timesOf({
  since = 0,
  until = Number.MAX_SAFE_INTEGER,
  receivedSince = 0,
}: InboxFilter): {
  readonly since: number;
  readonly until: number;
} {
  // An event ends after its arrival, so an index on the ends also bounds a search by arrival.
  return {
    since: wholeMs(Math.max(since, receivedSince - MAX_SET_BACK_MS)),
    until: wholeMs(until),
  };
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
    const start = startOf(after, timesOf(filter).until);
    // One extra row shows whether there is a next page.
    const search = { state, filter, start, size: size + 1 };
    const { rows, searchedTo } = await this.#search({ ...search, maxSearched: MAX_SEARCHED });
    const last = rows.length > size ? rows[size - 1] : searchedTo;
    const isRestoring = await this.#isRestoring(rows);
    return {
      events: rows.slice(0, size).map((row) => toSummary(row, isRestoring)),
      next: last && `${last.at}-${last.seq}`,
    };
  }

  /** Returns the ids of all events in a state that match a filter with a user, oldest first. */
  async idsOf(state: EventState, filter: InboxFilter): Promise<string[]> {
    const start = startOf(undefined, timesOf(filter).until);
    const all = Number.POSITIVE_INFINITY;
    const { rows } = await this.#search({ state, filter, start, size: all, maxSearched: all });
    return rows.map(({ id }) => id).reverse();
  }

  /** Finds events, newest first. Users are compared here, because no database can read every event's JSON. */
  async #search({ state, filter, start, size, maxSearched }: Search): Promise<Found> {
    const { user, ...indexed } = filter;
    const text = pageOf(state, this.#store.dialect, user !== undefined);
    const rowsAfter = ([at, seq]: Position, limit: number) => {
      const values = [...fieldsOf(indexed), timesOf(indexed).since, at, seq, limit];
      return this.#store.rows<PageRow>(text, values);
    };
    if (user === undefined) return { rows: await rowsAfter(start, size), searchedTo: undefined };
    const found: PageRow[] = [];
    let from = start;
    for (let searched = 0; ; ) {
      const rows = await rowsAfter(from, SEARCH_BATCH);
      for (const row of rows) if (isCausedBy(row.body ?? null, user)) found.push(row);
      searched += rows.length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < SEARCH_BATCH || found.length >= size) {
        return { rows: found, searchedTo: undefined };
      }
      if (searched >= maxSearched) return { rows: found, searchedTo: last };
      from = [last.at, last.seq];
      // A file is read synchronously, so deliveries and handlers run in between.
      await setImmediate();
    }
  }

  async show(id: string): Promise<EventDetails | undefined> {
    const one = `SELECT event.body, ${eventIn(this.#store.dialect)} WHERE event.id = $1`;
    const [row] = await this.#store.rows<WholeRow>(one, [id]);
    if (row === undefined) return undefined;
    const history = await this.#store.rows<AttemptRow>(HISTORY, [id]);
    const steps = await this.#store.rows<StepRow>(STEPS, [id]);
    return {
      ...toSummary(row, await this.#isRestoring([row])),
      body: row.body ?? undefined,
      history: history.map((run) => ({ ...run, error: run.error ?? undefined })),
      steps: steps.map((step) => ({
        ...step,
        result: step.result ?? undefined,
        ref: step.ref ?? undefined,
      })),
    };
  }

  /** Resolves to true if handlers wait until the log was read after a restore. */
  async #isRestoring(rows: readonly EventRow[]): Promise<boolean> {
    if (rows.every(({ state }) => state !== "pending")) return false;
    const text = "SELECT position FROM {schema}.cursor WHERE name = $1";
    const [cursor] = await this.#store.rows<{ readonly position: string }>(text, [RESTORED]);
    const mark = readRestoreMark(cursor?.position);
    return mark !== undefined && mark.readAt === undefined;
  }
}

/** Number of events examined per statement in a search for a user. */
const SEARCH_BATCH = 500;

/** Maximum number of events examined for one page. */
const MAX_SEARCHED = 100_000;

type Position = readonly [at: number, seq: number];

interface Search {
  /** `undefined` for all states. */
  readonly state: EventState | undefined;
  readonly filter: InboxFilter;
  readonly start: Position;
  /** Maximum number of events to find. */
  readonly size: number;
  /** Maximum number of events to examine for a user. */
  readonly maxSearched: number;
}

interface Found {
  readonly rows: readonly PageRow[];
  /** The last event examined, if the search ended early. */
  readonly searchedTo: PageRow | undefined;
}

/** Merges one list per state, each sorted by an index. */
function pageOf(state: EventState | undefined, dialect: Dialect, hasBody: boolean): string {
  const states = state === undefined ? (["pending", "ended"] as const) : [state];
  const body = hasBody ? "event.body, " : "";
  const parts = states.flatMap((one) =>
    dialect.indexes[one].map(
      (where) =>
        `SELECT ${timeOf(one)} AS at, ${body}${eventIn(dialect)} WHERE ${where}
         AND ${fits(dialect)} AND ${timeOf(one)} >= $8 AND (${timeOf(one)}, event.seq) < ($9, $10)
         ORDER BY ${timeOf(one)} DESC, event.seq DESC LIMIT $11`,
    ),
  );
  const lists = parts.map((part, nth) => `SELECT * FROM (${part}) AS list_${nth}`);
  return `${lists.join(" UNION ALL ")} ORDER BY at DESC, seq DESC LIMIT $11`;
}

/**
 * Returns the position after which a page starts. Without `after`, it is `until`.
 *
 * @param after the previous page's `next`
 * @throws {ServiceBotError} CURSOR_INVALID
 */
function startOf(after: string | undefined, until: number): Position {
  if (after === undefined) return [until, FIRST_SEQ];
  const [, at, seq] = /^(\d{1,16})-(\d{1,16})$/.exec(after) ?? [];
  if (at === undefined || seq === undefined) {
    throw new ServiceBotError(
      "CURSOR_INVALID",
      `Invalid cursor ${quoteValue(after)}. Pass the "next" value from the previous page.`,
    );
  }
  return until > Number(at) ? [Number(at), Number(seq)] : [until, FIRST_SEQ];
}

function toSummary(row: EventRow, isRestoring: boolean): EventSummary {
  const { id, type, lane, state, source, attempts, reason } = row;
  const leased = row.leased === 1;
  const isWaiting = state === "pending" && !leased;
  return {
    id,
    type,
    lane,
    state,
    source,
    attempts,
    leased,
    receivedAt: row.received_at,
    trace: traceIdOf(row.trace ?? undefined),
    endedAt: row.done_at ?? undefined,
    error: row.error ?? undefined,
    discardReason: state === "discarded" ? (reason ?? undefined) : undefined,
    run: leased ? runOf(row) : undefined,
    wait: isWaiting ? waitOf(id, row, row.now, isRestoring) : undefined,
    skipReason: state === "done" ? ((reason ?? undefined) as SkipReason | undefined) : undefined,
  };
}
