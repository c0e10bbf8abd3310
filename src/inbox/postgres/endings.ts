import type { Effects, StepResult } from "../effects.ts";
import type { AttemptRecord, SkipReason } from "../event-records.ts";
import type { Advance, Claim } from "../inbox.ts";
import { stateConflict } from "../sql/effects.ts";
import {
  HeadClaim,
  type HeadRow,
  type HowEnded,
  MAX_HISTORY,
  SUSPECT_CRASHES,
} from "../sql/sql-inbox.ts";
import { query, type Script, type SqlStore } from "../sql/store.ts";
import { shortenKey } from "../stored-text.ts";
import { HELD, is, isLateSql, isTimedSql, lockHeld, rowsOf, SORTED } from "./claims.ts";
import { type RunEffects, upToSize, withoutSharedKeys, writeEffects } from "./effects.ts";
import { Gather } from "./gather.ts";
import type { Backlog } from "./intake.ts";
import type { LeaseLedger } from "./lease-ledger.ts";

/**
 * Records the runs in a table with `id`, `fence`, `attempt` and `error`, and deletes their events' oldest history. The
 * DELETE does not see the rows inserted by the same statement.
 */
function addRuns(table: string, outcome: AttemptRecord["outcome"]): string {
  return `recorded AS (
  INSERT INTO {schema}.attempt (event_id, fence, number, outcome, error, ended_at)
  SELECT id, fence, attempt, '${outcome}', error, {now} FROM ${table}
  ON CONFLICT (event_id, fence) DO UPDATE SET number = excluded.number, outcome = excluded.outcome,
    error = excluded.error, ended_at = excluded.ended_at
), trimmed AS (
  DELETE FROM {schema}.attempt USING ${table} AS ended CROSS JOIN LATERAL (
    SELECT old.ctid AS old_at FROM {schema}.attempt AS old
    WHERE old.event_id = ended.id AND old.fence <> ended.fence
    ORDER BY old.ended_at DESC, old.fence DESC OFFSET ${MAX_HISTORY - 1}
  ) AS old WHERE attempt.ctid = old.old_at
)`;
}

/**
 * Returns the SQL columns `last_ord` and `last_at` for an `event` that ends now: the lane's last event that ended in
 * time, and when it ended. A late event changes neither.
 */
function endedInTime(lane: string): string {
  const last = { ord: `${lane}.done_ord`, at: `${lane}.done_at` };
  const isLate = isLateSql({ ord: "event.ord", receivedAt: "event.received_at" }, last);
  const isInTime = `${isTimedSql("event.ord")} AND NOT ${isLate}`;
  return `CASE WHEN ${isInTime} THEN event.ord ELSE coalesce(${last.ord}, '') END AS last_ord,
    CASE WHEN ${isInTime} OR coalesce(${last.ord}, '') = '' THEN {now} ELSE coalesce(${last.at}, {now}) END AS last_at`;
}

/** Columns of a step's result, or null. */
const RESULT = { step: "text", result: "text", ref: "text" };

/** Records the results in a table with `id` and the columns of {@link RESULT}. */
function finishSteps(table: string): string {
  return `finished AS (
  UPDATE {schema}.step SET state = 'done', result = open.result, ref = open.ref
  FROM ${table} AS open CROSS JOIN LATERAL (
    SELECT ctid AS step_at FROM {schema}.step WHERE event_id = open.id AND name = open.step OFFSET 0
  ) AS found WHERE step.ctid = found.step_at
)`;
}

/** Interval at which a lane that continues records when its events end, in ms. The time is in an index. */
const RECORD_INTERVAL_MS = 60 * 60_000;

const IS_NEXT_LATE = isLateSql(
  { ord: "next.ord", receivedAt: "next.received_at" },
  { ord: "last_ord", at: "last_at" },
);

/**
 * Ends events as done, and finds the next events in lanes that continue. A lane that continues keeps its lease. Keeping
 * it changes no indexed column, and costs half as much as releasing and leasing again.
 *
 * The statement sees events as of its start, and lanes as of their locks. A lane's row changes together with its
 * events, so an unchanged row guarantees that the visible events are current. A changed row has moved to another ctid,
 * so the update skips it. Each part passes on all its columns, because joining two parts would take quadratic time.
 */
const COMPLETE = `
WITH input AS (
  ${rowsOf({
    lane: "text",
    fence: "bigint",
    id: "text",
    attempt: "integer",
    goes_on: "boolean",
    skipped: "text",
    ...RESULT,
  })}
), ${SORTED}, seen AS MATERIALIZED (
  SELECT sorted.*, held.*, next.*
  FROM sorted CROSS JOIN LATERAL (
    SELECT lane.ctid AS lane_at, lane.ready_at > {now} AS leased, event.ctid AS event_at,
      ${endedInTime("lane")}
    FROM {schema}.lane CROSS JOIN {schema}.event
    WHERE lane.key = sorted.lane AND lane.owner = $1 AND lane.fence = sorted.fence AND event.id = sorted.id
    FOR UPDATE OF lane
  ) AS held LEFT JOIN LATERAL (
    SELECT head.next_at, head.next_seq FROM (
      SELECT ctid AS next_at, seq AS next_seq, crashes FROM {schema}.event
      WHERE sorted.goes_on AND held.leased AND lane = sorted.lane AND state = 'pending' AND id <> sorted.id
      ORDER BY ord, seq LIMIT 1
    ) AS head WHERE head.crashes < ${SUSPECT_CRASHES}
  ) AS next ON true
), advanced AS (
  UPDATE {schema}.lane SET pending = lane.pending - 1, done_ord = seen.last_ord,
    fence = lane.fence + ${is("seen.next_seq IS NOT NULL")},
    claimed = coalesce(seen.next_seq, lane.claimed), begun_at = {now},
    owner = CASE WHEN seen.next_seq IS NOT NULL THEN lane.owner END,
    done_at = CASE WHEN seen.next_seq IS NOT NULL AND lane.done_at > {now} - ${RECORD_INTERVAL_MS} THEN lane.done_at
      ELSE seen.last_at END,
    ready_at = CASE WHEN seen.next_seq IS NOT NULL THEN lane.ready_at WHEN lane.pending > 1 THEN {now} END
  FROM seen WHERE lane.ctid = seen.lane_at
  RETURNING seen.*
), ended AS (
  UPDATE {schema}.event SET state = 'done', done_at = {now}, error = NULL, attempts = advanced.attempt,
    fence = advanced.fence, reason = advanced.skipped
  FROM advanced WHERE event.ctid = advanced.event_at
), ${finishSteps("advanced")}
SELECT n, next.id, next.type, next.body, next.source, next.received_at, next.trace, next.attempts, next.crashes,
  ${IS_NEXT_LATE} AS late
FROM advanced LEFT JOIN LATERAL (SELECT * FROM {schema}.event WHERE ctid = advanced.next_at OFFSET 0) AS next ON true`;

/** Ends dead letters, and events in lanes that changed concurrently. Releases their lanes. */
const END = `
WITH input AS (
  ${rowsOf({
    lane: "text",
    fence: "bigint",
    id: "text",
    attempt: "integer",
    error: "text",
    skipped: "text",
    ...RESULT,
  })}
), ${lockHeld("done_ord, done_at")}, ended AS (
  UPDATE {schema}.event SET done_at = {now}, error = held.error, attempts = held.attempt, fence = held.fence,
    reason = held.skipped,
    state = CASE WHEN held.error IS NULL THEN 'done' ELSE 'dead' END
  FROM held WHERE event.id = held.id
  RETURNING held.n, held.id, held.fence, held.attempt, held.error, held.step, held.result, held.ref, event.lane,
    ${endedInTime("held")}
), advanced AS (
  UPDATE {schema}.lane SET pending = lane.pending - 1, owner = NULL, done_at = ended.last_at,
    done_ord = ended.last_ord,
    ready_at = CASE WHEN lane.pending > 1 THEN {now} END
  FROM ended WHERE lane.key = ended.lane
), ${finishSteps("ended")}, buried AS (
  SELECT * FROM ended WHERE error IS NOT NULL
), ${addRuns("buried", "dead")}
SELECT n FROM ended`;

function postponeSql(outcome: "failed" | "released"): string {
  const change =
    outcome === "failed"
      ? "attempts = closed.attempt, error = closed.error"
      : "attempts = closed.attempt - 1";
  return `
WITH closed AS (
  UPDATE {schema}.lane SET owner = NULL, ready_at = {now} + $4::bigint WHERE ${HELD}
  RETURNING fence, $5::text AS id, $6::integer AS attempt, $7::text AS error
), returned AS (
  UPDATE {schema}.event SET fence = closed.fence, ${change} FROM closed WHERE event.id = closed.id
), ${addRuns("closed", outcome)}
SELECT id FROM closed`;
}

/**
 * Releases a lane whose run has not started. The event's row stays unchanged, because an attempt is counted when it
 * ends.
 */
const HAND_BACK = `
UPDATE {schema}.lane SET owner = NULL, ready_at = {now} + $4::bigint WHERE ${HELD} RETURNING key`;

const RETRY = postponeSql("failed");
const RELEASE = postponeSql("released");

/** Maximum number of outcomes per statement. */
const MAX_OUTCOMES = 1_000;

/**
 * Maximum number of outcomes with effects per transaction. One statement writes all their states, and a state may have
 * several kilobytes.
 */
const MAX_OUTCOMES_WITH_EFFECTS = 100;

/** A run that has ended. */
interface Ending extends Omit<HowEnded, "effects"> {
  readonly claim: Claim;
  /** True if the lane should continue with its next event. */
  readonly advances: boolean;
  readonly result: StepResult | undefined;
}

type EndingWithEffects = Ending & RunEffects;

/** The statement or transaction failed. It may have been committed even so. */
class Failure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** `conflict`: another run wrote a state after this run had read it, so nothing was written. */
type EndingResult = Advance | "conflict" | Failure;

type EndingResults = Map<Ending, EndingResult>;

/** The `n`th ending, starting at 1, with the lane's next event if the lane continues. */
type DoneRow = { readonly n: number } & (NextRow | { readonly id: null });

type NextRow = HeadRow & { readonly late: boolean };

const LOST: Advance = { held: false };

export interface EndingsOptions {
  readonly store: Pick<SqlStore, "rows" | "run">;
  readonly owner: string;
  readonly ledger: LeaseLedger;
  readonly backlog: Backlog;
  /** Called once for all lanes that were or may have been released together. */
  readonly onLetGo: () => void;
}

/** Records the outcomes of runs, many per statement. */
export class PostgresEndings {
  readonly #store: EndingsOptions["store"];
  readonly #owner: string;
  readonly #ledger: LeaseLedger;
  readonly #backlog: Backlog;
  readonly #onLetGo: () => void;
  readonly #gather: Gather<Ending, EndingResult>;
  readonly #gatherWithEffects: Gather<EndingWithEffects, EndingResult>;

  constructor({ store, owner, ledger, backlog, onLetGo }: EndingsOptions) {
    this.#store = store;
    this.#owner = owner;
    this.#ledger = ledger;
    this.#backlog = backlog;
    this.#onLetGo = onLetGo;
    this.#gather = new Gather(
      (endings) => this.#record(endings, (results) => this.#writeAll(endings, results)),
      MAX_OUTCOMES,
    );
    this.#gatherWithEffects = new Gather(
      (endings) => this.#record(endings, (results) => this.#writeWithEffects(endings, results)),
      MAX_OUTCOMES_WITH_EFFECTS,
    );
  }

  /** Ends the event as done, or as a dead letter if there is an error, and releases the lane. */
  async end(claim: Claim, { effects, ...how }: HowEnded): Promise<boolean> {
    return (await this.#add({ claim, ...how, advances: false }, effects)).held;
  }

  advance(claim: Claim, { effects, ...how }: Omit<HowEnded, "error">): Promise<Advance> {
    return this.#add({ claim, ...how, advances: true }, effects);
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#close(claim, RETRY, delayMs, claim.id, claim.attempt, error);
  }

  /** Releases the lane without counting the attempt. Without an error, the handler has not started. */
  release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    if (error === undefined) return this.#close(claim, HAND_BACK, delayMs);
    return this.#close(claim, RELEASE, delayMs, claim.id, claim.attempt, error);
  }

  /** @throws {ServiceBotError} STATE_CONFLICT */
  async #add(run: Omit<Ending, "result">, effects: Effects | undefined): Promise<Advance> {
    const ending = { ...run, result: effects?.result };
    const outcome = await (effects === undefined || isOnlyResult(effects)
      ? this.#gather.add(ending)
      : this.#gatherWithEffects.add({ ...ending, effects }));
    if (outcome === "conflict") throw stateConflict();
    if (outcome instanceof Failure) throw outcome.error;
    return outcome;
  }

  /** Ends the claim. Resolves to false if the lease was lost. */
  async #close(claim: Claim, statement: string, ...values: readonly unknown[]): Promise<boolean> {
    const key = [claim.lane, this.#owner, claim.fence];
    const held = (await this.#store.rows(statement, [...key, ...values])).length > 0;
    this.#ledger.forget(claim);
    if (held) this.#onLetGo();
    return held;
  }

  /** Updates the ledger and the backlog for all endings at once, because one promise per event would cost more. */
  async #record(
    endings: readonly Ending[],
    write: (results: EndingResults) => Promise<void>,
  ): Promise<readonly EndingResult[]> {
    await this.#ledger.settled();
    for (const { claim } of endings) this.#ledger.beginAdvance(claim);
    const results: EndingResults = new Map();
    try {
      await this.#backlog.watch(write(results));
    } catch (error) {
      // The events that earlier statements have ended stay ended.
      for (const one of endings) if (!results.has(one)) results.set(one, new Failure(error));
    }
    const advances: Advance[] = [];
    for (const one of endings) {
      const result = results.get(one) ?? LOST;
      if (result === "conflict") this.#ledger.keep(one.claim);
      else if (result instanceof Failure) this.#ledger.endAdvance(one.claim, undefined);
      else {
        this.#ledger.endAdvance(one.claim, result);
        advances.push(result);
      }
    }
    this.#backlog.add(-advances.filter(({ held }) => held).length);
    if (advances.some(({ held, next }) => held && next === undefined)) this.#onLetGo();
    return endings.map((one) => results.get(one) ?? LOST);
  }

  /** Runs each statement as its own transaction. */
  async #writeAll(endings: readonly Ending[], results: EndingResults): Promise<void> {
    const script = this.#end(endings, results);
    let step = script.next([]);
    while (step.done !== true) {
      step = script.next(await this.#store.rows(step.value.text, step.value.values));
    }
  }

  /**
   * Writes endings and their effects in one transaction, or in several if the effects are large. A conflict rolls the
   * transaction back. It is then repeated without the conflicting endings, because their states never return to the
   * earlier version. If several endings write the same state, the first is written first.
   */
  async #writeWithEffects(
    endings: readonly EndingWithEffects[],
    results: EndingResults,
  ): Promise<void> {
    let left = endings;
    while (left.length > 0) {
      const together = upToSize(withoutSharedKeys(left));
      let conflicts: readonly EndingWithEffects[] = [];
      const write = function* (end: Script<EndingResults>): Script<EndingResults> {
        const ended = yield* end;
        conflicts = yield* writeEffects(together.filter((one) => ended.has(one)));
        if (conflicts.length > 0) throw stateConflict();
        return ended;
      };
      try {
        const ended = await this.#store.run(() => write(this.#end(together, new Map())));
        for (const one of together) results.set(one, ended.get(one) ?? LOST);
      } catch (error) {
        if (conflicts.length === 0) throw error;
        for (const one of conflicts) results.set(one, "conflict");
      }
      left = left.filter((one) => !results.has(one));
    }
  }

  /** Adds the result of each ending whose lease holds. */
  *#end(endings: readonly Ending[], results: EndingResults): Script<EndingResults> {
    const done = endings.filter(({ error }) => error === undefined);
    if (done.length > 0) yield* this.#complete(done, results);
    const others = endings.filter((ending) => !results.has(ending));
    if (others.length > 0) yield* this.#letGo(others, results);
    return results;
  }

  *#complete(endings: readonly Ending[], results: EndingResults): Script<void> {
    const advances = endings.map((ending) => ending.advances);
    const values = [
      ...this.#columns(endings),
      advances,
      skippedOf(endings),
      ...resultColumns(endings),
    ];
    const rows = yield* query<DoneRow>(COMPLETE, ...values);
    for (const row of rows) {
      const ending = endings[row.n - 1];
      if (ending === undefined) continue;
      results.set(ending, { held: true, next: row.id === null ? undefined : next(ending, row) });
    }
  }

  *#letGo(endings: readonly Ending[], results: EndingResults): Script<void> {
    const errors = endings.map(({ error }) => error ?? null);
    const values = [
      ...this.#columns(endings),
      errors,
      skippedOf(endings),
      ...resultColumns(endings),
    ];
    const rows = yield* query<{ readonly n: number }>(END, ...values);
    for (const { n } of rows) {
      const ending = endings[n - 1];
      if (ending !== undefined) results.set(ending, { held: true });
    }
  }

  #columns(endings: readonly Ending[]): unknown[] {
    return [
      this.#owner,
      endings.map(({ claim }) => claim.lane),
      endings.map(({ claim }) => claim.fence),
      endings.map(({ claim }) => claim.id),
      endings.map(({ claim }) => claim.attempt),
    ];
  }
}

function skippedOf(endings: readonly Ending[]): (SkipReason | null)[] {
  return endings.map(({ skipped }) => skipped ?? null);
}

/** Returns whether one statement can write all effects. */
function isOnlyResult({ states, timers, cancels }: Effects): boolean {
  return states.length + timers.length + cancels.length === 0;
}

function resultColumns(endings: readonly Ending[]): (string | null)[][] {
  return [
    endings.map(({ result }) => (result === undefined ? null : shortenKey(result.step))),
    endings.map(({ result }) => result?.result ?? null),
    endings.map(({ result }) => (result?.ref === undefined ? null : shortenKey(result.ref))),
  ];
}

function next({ claim: { lane, fence } }: Ending, row: NextRow): Claim {
  return new HeadClaim({ lane, fence: fence + 1, late: row.late }, row);
}
