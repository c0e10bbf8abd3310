import { minOf } from "../../core/extremes.ts";
import { ServiceBotError } from "../../errors.ts";
import type { InboxAdmin, InboxStats } from "../admin.ts";
import { canFindAgain, type Effects, type StoredTimer, type TimerName } from "../effects.ts";
import type { SkipReason } from "../event-records.ts";
import type { Claim, NewEvent, ReconcileResult, Retention, StepStart } from "../inbox.ts";
import { ABSENT, PROVISIONAL } from "../restore-mark.ts";
import { shortenKey } from "../stored-text.ts";
import { SqlAdmin } from "./admin.ts";
import { FIND_TIMERS } from "./effects.ts";
import { Reports } from "./reports.ts";
import { Sweeper, type SweepPhase } from "./retention.ts";
import { type Dialect, query, type Script, type SqlStore, type SqlWriteOptions } from "./store.ts";

/** Maximum number of runs in an event's history. During an outage, an event may be postponed thousands of times. */
export const MAX_HISTORY = 50;

/**
 * Number of crashed runs after which an event becomes a suspect, because it may be the event that crashes the process.
 */
export const SUSPECT_CRASHES = 2;

/** Time that a lane stays closed while another suspect runs, in ms. */
export const SUSPECT_WAIT_MS = 200;

/** Default maximum number of pending events. */
export const MAX_BACKLOG = 100_000;

/** How a run ended. Without an error, its event is done. */
export interface HowEnded {
  readonly error?: string | undefined;
  readonly effects?: Effects | undefined;
  /** Reason why no handler ran. */
  readonly skipped?: SkipReason | undefined;
}

/** A lane's first event. */
export interface HeadRow {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Claim["source"];
  /** Number of ended runs. */
  readonly attempts: number;
  readonly crashes: number;
  readonly received_at: number;
  readonly trace: string | null;
}

/** A lease on a lane's first event. */
export class HeadClaim implements Claim {
  readonly lane: string;
  readonly fence: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Claim["source"];
  readonly attempt: number;
  readonly crashes: number;
  readonly late: boolean;
  readonly receivedAt: number;
  readonly trace: string | undefined;

  constructor({ lane, fence, late }: Pick<Claim, "lane" | "fence" | "late">, head: HeadRow) {
    this.lane = lane;
    this.fence = fence;
    this.id = head.id;
    this.type = head.type;
    this.body = head.body;
    this.source = head.source;
    this.attempt = head.attempts + 1;
    this.crashes = head.crashes;
    this.late = late;
    this.receivedAt = head.received_at;
    this.trace = head.trace ?? undefined;
  }
}

/** Calls a listener. Its failure must not make a write look failed that is already committed. */
function ignoreErrors(listener: () => void): void {
  try {
    listener();
  } catch {
    // A listener that misses an announcement only waits longer.
  }
}

const statementsIn = ({ isAnyOf, locksRows, held, deliveries }: Dialect) => {
  // Lock the row until the commit, so that no other process can take over the lease in between.
  const heldAndLocked = `${held} ${locksRows ? "FOR NO KEY UPDATE" : ""}`;
  const change = (assignments: string) => `
    UPDATE {schema}.step SET ${assignments}
    WHERE event_id = $4 AND name = $5 AND EXISTS (SELECT 1 ${heldAndLocked})`;
  return {
    beginStep: `
      INSERT INTO {schema}.step (event_id, name, state, request, fence, started_at)
      SELECT CAST($4 AS text), CAST($5 AS text), 'open', CAST($6 AS text), fence, {now} ${heldAndLocked}
      ON CONFLICT (event_id, name) DO NOTHING`,
    findStep: `
      SELECT state, request, result, {now} - started_at AS age,
        CASE WHEN fence = ${ABSENT} THEN 1 ELSE 0 END AS absent
      FROM {schema}.step WHERE event_id = $4 AND name = $5 AND EXISTS (SELECT 1 ${held})`,
    restartStep: change(
      "state = 'open', result = NULL, ref = NULL, request = $6, fence = $3, started_at = {now}",
    ),
    finishStep: change("state = 'done', result = $6, ref = $7"),
    adoptStep: `${change(`state = 'done', result = $6, ref = $7, fence = coalesce($8, step.fence),
      started_at = CASE WHEN $8 IS NULL THEN step.started_at ELSE {now} END`)} RETURNING 1`,
    // Keep the row. After a restore, a missing row would prove nothing.
    dropStep: change(`fence = CASE WHEN step.state = 'open' THEN ${ABSENT} ELSE step.fence END`),
    hasOther:
      "SELECT 1 FROM {schema}.step WHERE ref = $1 AND NOT (event_id = $2 AND name = $3) LIMIT 1",
    // A process whose lease has expired may still be running the step. Its lane has an owner until the next claim.
    underWay: `
      SELECT step.request FROM {schema}.lane
        JOIN {schema}.event ON event.lane = lane.key AND event.state = 'pending' AND event.seq = lane.claimed
        JOIN {schema}.step ON step.event_id = event.id
      WHERE lane.ready_at IS NOT NULL AND lane.owner IS NOT NULL AND lane.key <> $1
        AND step.state = 'open' AND step.fence <> ${ABSENT} AND {now} - step.started_at < $2`,
    claimedRefs: `SELECT ref FROM {schema}.step WHERE ${isAnyOf("ref", "$1")}`,
    provisional: `
      SELECT {now} - started_at AS age FROM {schema}.step
      WHERE ${isAnyOf("ref", "$1")} AND fence = ${PROVISIONAL}`,
    cursor: "SELECT position FROM {schema}.cursor WHERE name = $1",
    // The cursor `delivered` has the time of the last webhook delivery.
    noteDelivery: `
      INSERT INTO {schema}.cursor (name, position)
        VALUES ('delivered', CAST(CAST({now} - CAST($1 AS bigint) AS bigint) AS text))
      ON CONFLICT (name) DO UPDATE SET position = excluded.position
        WHERE CAST(cursor.position AS bigint) < CAST(excluded.position AS bigint)`,
    lastDelivery: `
      SELECT {now} - max(at) AS ago FROM (
        SELECT CAST(position AS bigint) AS at FROM {schema}.cursor WHERE name = 'delivered' UNION ALL ${deliveries}) AS known`,
    webhookTypes: "SELECT type FROM {schema}.webhook_type",
    backlog: "SELECT count(*) AS n FROM {schema}.event WHERE state = 'pending'",
    known: `SELECT count(*) AS n FROM {schema}.event WHERE ${isAnyOf("id", "$1")}`,
  };
};

interface StepRow {
  readonly state: "open" | "done";
  readonly request: string;
  readonly result: string | null;
  readonly age: number;
  readonly absent: 0 | 1;
}

export interface SqlInboxOptions {
  readonly store: SqlStore;
  /** Id under which this process holds leases. */
  readonly owner: string;
  readonly sweepPhases: readonly SweepPhase[];
}

/**
 * Parts of an inbox that are the same for every database: steps, cursors, retention and administration. Intake, claims
 * and endings differ. On a file, a single process runs several prepared statements that share a commit. On a server,
 * several processes each need one statement that locks rows and takes one round trip.
 */
export abstract class SqlInbox {
  readonly admin: InboxAdmin;
  protected readonly reports: Reports;
  readonly #store: SqlStore;
  readonly #owner: string;
  readonly #sweeper: Sweeper;
  readonly #statements: ReturnType<typeof statementsIn>;
  readonly #listeners = new Set<() => void>();
  readonly #timerListeners = new Set<(inMs: number) => void>();
  readonly #doubtListeners = new Set<() => void>();

  protected constructor({ store, owner, sweepPhases }: SqlInboxOptions) {
    this.#store = store;
    this.#owner = owner;
    this.#sweeper = new Sweeper(store, sweepPhases);
    this.#statements = statementsIn(store.dialect);
    this.reports = new Reports(store);
    this.admin = new SqlAdmin(
      store,
      (pending) => this.onDecided(pending),
      () => this.announceDue(0),
    );
  }

  /** Called after a decision, with the change in the number of pending events. */
  protected abstract onDecided(pending: number): void;

  /** Ends the event and releases its lane. Resolves to false if the lease was lost. */
  protected abstract end(claim: Claim, how: HowEnded): Promise<boolean>;

  complete(claim: Claim, effects?: Effects, skipped?: SkipReason): Promise<boolean> {
    return this.end(claim, { effects, skipped });
  }

  bury(claim: Claim, error: string, effects?: Effects): Promise<boolean> {
    return this.end(claim, { error, effects });
  }

  async beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined> {
    const { beginStep, findStep } = this.#statements;
    const key = this.#keyOf(claim, name);
    if ((await this.#store.write(beginStep, [...key, request])) > 0) return { state: "new" };
    const [row] = await this.#store.rows<StepRow>(findStep, key);
    if (row === undefined) return undefined;
    if (row.state === "open" && row.absent) {
      return (await this.restartStep(claim, name, request)) ? { state: "absent" } : undefined;
    }
    const { state, request: before, result, age: ageMs } = row;
    if (state === "done") return { state, request: before, result: result ?? undefined, ageMs };
    return { state, request: before, ageMs };
  }

  restartStep(claim: Claim, name: string, request: string): Promise<boolean> {
    return this.#changeStep(this.#statements.restartStep, [...this.#keyOf(claim, name), request]);
  }

  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean> {
    const values = [
      ...this.#keyOf(claim, name),
      result,
      ref === undefined ? null : shortenKey(ref),
    ];
    const options = { mayBeLost: canFindAgain({ ref }) };
    return this.#changeStep(this.#statements.finishStep, values, options);
  }

  dropStep(claim: Claim, name: string): Promise<boolean> {
    return this.#changeStep(this.#statements.dropStep, this.#keyOf(claim, name));
  }

  /** If two steps find the same effect, one waits until the other has recorded it. */
  reconcileStep(
    claim: Claim,
    name: string,
    result: string,
    ref: string,
    isProvisional = false,
  ): Promise<ReconcileResult> {
    const { hasOther, adoptStep } = this.#statements;
    const { lockText } = this.#store.dialect;
    const effect = shortenKey(ref);
    const mark = isProvisional ? PROVISIONAL : null;
    const values = [...this.#keyOf(claim, name), result, effect, mark];
    return this.#store.run(function* (): Script<ReconcileResult> {
      if (lockText !== undefined) yield* query(lockText, effect);
      const others = yield* query(hasOther, effect, claim.id, shortenKey(name));
      if (others.length > 0) return "taken";
      return (yield* query(adoptStep, ...values)).length > 0 ? "adopted" : "lost";
    });
  }

  async requestsUnderWay({ lane }: Claim, withinMs: number): Promise<readonly string[]> {
    // A single process tracks its open steps in memory.
    if (!this.#store.dialect.locksRows) return [];
    const values = [lane, withinMs];
    const rows = await this.#store.rows<{ readonly request: string }>(
      this.#statements.underWay,
      values,
    );
    return rows.map(({ request }) => request);
  }

  async claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>> {
    const { claimedRefs } = this.#statements;
    const stored = refs.map(shortenKey);
    const rows = await this.#store.rows<{ readonly ref: string }>(claimedRefs, [stored]);
    const claimed = new Set(rows.map(({ ref }) => ref));
    return new Set(refs.filter((_, nth) => claimed.has(stored[nth] ?? "")));
  }

  async provisionalAdoptions(refs: readonly string[]): Promise<readonly number[]> {
    const { provisional } = this.#statements;
    const stored = refs.map(shortenKey);
    const rows = await this.#store.rows<{ readonly age: number }>(provisional, [stored]);
    return rows.map(({ age }) => age);
  }

  async cursor(name: string): Promise<string | undefined> {
    const { cursor } = this.#statements;
    const [row] = await this.#store.rows<{ readonly position: string }>(cursor, [name]);
    return row?.position;
  }

  async webhookTypes(): Promise<ReadonlySet<string>> {
    const { webhookTypes } = this.#statements;
    const rows = await this.#store.rows<{ readonly type: string }>(webhookTypes);
    return new Set(rows.map(({ type }) => type));
  }

  async noteDelivery(msAgo: number): Promise<void> {
    const { noteDelivery } = this.#statements;
    await this.#store.write(noteDelivery, [Math.trunc(msAgo)], { mayBeLost: true });
  }

  async deliveredMsAgo(): Promise<number | undefined> {
    const { lastDelivery } = this.#statements;
    const [row] = await this.#store.rows<{ readonly ago: number | null }>(lastDelivery);
    return row?.ago == null ? undefined : Math.max(0, row.ago);
  }

  timers({ lane, name, key }: TimerName): Promise<readonly StoredTimer[]> {
    return this.#store.rows<StoredTimer>(FIND_TIMERS, [lane, name, key ?? null]);
  }

  stats(): Promise<InboxStats> {
    return this.reports.stats();
  }

  async ping(): Promise<void> {
    await this.#store.rows("SELECT 1");
  }

  sweep(keep: Retention): Promise<boolean> {
    return this.#sweeper.sweep(keep);
  }

  onReady(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onTimersSet(listener: (inMs: number) => void): () => void {
    this.#timerListeners.add(listener);
    return () => this.#timerListeners.delete(listener);
  }

  onLeasesInDoubt(listener: () => void): () => void {
    this.#doubtListeners.add(listener);
    return () => this.#doubtListeners.delete(listener);
  }

  /** Must be called when another process may have taken over this process's leases before they expired. */
  protected announceDoubt(): void {
    for (const listener of this.#doubtListeners) listener();
  }

  /** Must be called after the effects are committed. */
  protected announceTimers({ timers }: Effects): void {
    if (timers.length === 0) return;
    this.announceDue(minOf(timers.map(({ delayMs }) => delayMs)));
  }

  /** Must be called when a timer may be due in `inMs`. */
  protected announceDue(inMs: number): void {
    for (const listener of this.#timerListeners) ignoreErrors(() => listener(inMs));
  }

  protected announce(): void {
    for (const listener of this.#listeners) ignoreErrors(listener);
  }

  protected async countPending(): Promise<number> {
    const [row] = await this.#store.rows<{ readonly n: number }>(this.#statements.backlog);
    return row?.n ?? 0;
  }

  /**
   * Accepts a batch of known events, because it adds nothing to the backlog and a refusal would only make the sender
   * retry. Otherwise throws INBOX_FULL.
   */
  protected async refuseUnlessKnown(
    events: readonly NewEvent[],
    pending: number,
    max: number,
  ): Promise<void> {
    const ids = [...new Set(events.map(({ id }) => id))];
    const [row] = await this.#store.rows<{ readonly n: number }>(this.#statements.known, [ids]);
    if (row?.n === ids.length) return;
    const message = `${pending} events are pending; the limit is ${max}.`;
    throw new ServiceBotError("INBOX_FULL", message);
  }

  /** Resolves to false if the lease was lost. */
  async #changeStep(
    statement: string,
    values: readonly unknown[],
    options?: SqlWriteOptions,
  ): Promise<boolean> {
    return (await this.#store.write(statement, values, options)) > 0;
  }

  #keyOf({ lane, fence, id }: Claim, name: string): readonly unknown[] {
    return [lane, this.#owner, fence, id, shortenKey(name)];
  }
}
