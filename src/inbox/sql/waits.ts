import type { AttemptRecord, EventRun, EventWait, WaitReason } from "../event-records.ts";
import { ABSENT } from "../restore-mark.ts";
import type { Dialect } from "./store.ts";

/** Columns that show why an event is pending. All are null for other events. */
export interface WaitRow {
  /** End of the lane's wait. */
  readonly ready_at: number | null;
  /** Outcome of the last run that did not succeed. */
  readonly last_outcome: AttemptRecord["outcome"] | null;
  readonly last_error: string | null;
  /** Event of the same lane that is running. */
  readonly running_id: string | null;
  /** First pending event of the lane. */
  readonly head_id: string | null;
  readonly begun_at: number | null;
  readonly instance: string | null;
  readonly step: string | null;
}

/** Returns the columns of {@link WaitRow} in a query for `event` and its `lane`. */
export function waitColumns({ isLeased, waitEnds, runningId, begunAt, instance }: Dialect): string {
  const pending = (value: string) => `CASE WHEN event.state = 'pending' THEN ${value} END`;
  const leased = (value: string) => pending(`CASE WHEN ${isLeased} THEN ${value} END`);
  const last = (column: string) =>
    pending(`(SELECT ${column} FROM {schema}.attempt WHERE attempt.event_id = event.id
      ORDER BY attempt.fence DESC LIMIT 1)`);
  return `${pending(waitEnds)} AS ready_at, ${last("outcome")} AS last_outcome, ${last("error")} AS last_error,
    ${pending(runningId)} AS running_id,
    ${pending(`(SELECT head.id FROM {schema}.event AS head WHERE head.lane = event.lane AND head.state = 'pending'
      ORDER BY head.ord, head.seq LIMIT 1)`)} AS head_id,
    ${leased(begunAt)} AS begun_at, ${leased(instance)} AS instance,
    ${leased(`(SELECT step.name FROM {schema}.step WHERE step.event_id = event.id AND step.state = 'open'
      AND step.fence <> ${ABSENT} ORDER BY step.started_at DESC LIMIT 1)`)} AS step`;
}

export function runOf({ begun_at, instance, step }: WaitRow): EventRun {
  return {
    startedAt: begun_at ?? undefined,
    step: step ?? undefined,
    instance: instance ?? undefined,
  };
}

/**
 * @param now time on the store's clock
 * @param isRestoring true while handlers wait until the log was read after a restore
 */
export function waitOf(id: string, row: WaitRow, now: number, isRestoring: boolean): EventWait {
  const other = row.running_id ?? row.head_id;
  const behind = other === null || other === id ? undefined : other;
  const isClosed = row.running_id === null && row.ready_at !== null && row.ready_at > now;
  return {
    reason: reasonOf(row, { isRestoring, isBehind: behind !== undefined, isClosed }),
    nextAt: isClosed ? (row.ready_at ?? undefined) : undefined,
    behind,
    error: row.last_error ?? undefined,
  };
}

interface LaneState {
  readonly isRestoring: boolean;
  readonly isBehind: boolean;
  /** True if the lane waits until a time. */
  readonly isClosed: boolean;
}

function reasonOf(row: WaitRow, { isRestoring, isBehind, isClosed }: LaneState): WaitReason {
  if (isBehind) return "lane";
  if (!isClosed) return isRestoring ? "restore" : "ready";
  if (row.last_outcome === "crashed") return "crash";
  return row.last_outcome === "released" ? postponedBy(row.last_error ?? "") : "retry";
}

/** Beginnings of the errors of postponed runs, as the dispatcher stores them: class, and code if there is one. */
const causes: readonly (readonly [RegExp, WaitReason])[] = [
  [/^LoopHeld:/, "loop_guard"],
  [/^NetworkError API_BUDGET_SPENT:/, "budget"],
  [/^\w+ QUOTA_EXCEEDED:|^NetworkError API_CIRCUIT_OPEN: .*\bquota\b/, "quota"],
  [/^(?:NetworkError|LimitError|UnavailableError) /, "platform"],
  // A run is postponed after these errors only if they concern the token or the whole app.
  [/^(?:AccessError|ApiError) /, "token"],
  [/^ServiceBotError STATE_CONFLICT:/, "conflict"],
  [/^ServiceBotError STORE_UNAVAILABLE:/, "store"],
];

function postponedBy(error: string): WaitReason {
  return causes.find(([pattern]) => pattern.test(error))?.[1] ?? "postponed";
}
