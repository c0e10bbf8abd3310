/**
 * Contract of the durable inbox. Webhook and polling put events in, and the dispatcher takes them out.
 * docs/internals/guarantees.md explains the design.
 *
 * A *lane* is the unit of claiming. A *claim* is the first pending event of a lane, leased for a while. The *fence*
 * counts the claims of a lane. A claim whose fence is older than its lane's has lost its lease, and its writes are
 * refused.
 *
 * The history of an event holds the newest 50 runs that did not succeed (`retry`, `release`, `bury`, and crashes).
 *
 * Promises settle once the data is durable. Every method rejects with a `ServiceBotError` STORE_UNAVAILABLE if the
 * store cannot answer, and then has written nothing.
 */

import type { InboxAdmin, InboxMeasures, InboxStats, Source } from "./admin.ts";
import type { Effects, FiredTimers, StoredState, StoredTimer, TimerName } from "./effects.ts";
import type { Shared } from "./shared.ts";

export type { InboxStats, Source } from "./admin.ts";

/** Name of the event log's cursor, and of its reader's lease. */
export const EVENT_LOG = "events";

/** An event to store. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  /**
   * Sort key within the lane, compared by bytes; see `orderKey`. Empty for the bot's own events, which come first and
   * are never late.
   */
  readonly ord: string;
  /** The event as JSON. */
  readonly body: string;
  /** Reason why the event cannot be handled. Such an event is stored as a dead letter. */
  readonly unusable?: string;
}

/** New position of a cursor, written in one transaction with the events before it. */
export interface CursorMove {
  readonly name: string;
  readonly position: string;
  /** Term of the cursor's leader. The cursor moves only during that term; without a term it always moves. */
  readonly term?: number | undefined;
}

export interface PutResult {
  /** Ids that were new, in the order of the batch. */
  readonly stored: readonly string[];
  /** Events already stored, or repeated in the batch. */
  readonly duplicates: number;
  /** Events stored as dead letters. */
  readonly unusable: number;
  /** True if a cursor did not move because its term is over. The events are stored. */
  readonly termOver?: boolean;
}

/** A leased event. `attempt` counts this run, from 1 up. */
export interface Claim {
  /** Runs of this event that never recorded an outcome, as when the process died. */
  readonly crashes: number;
  readonly lane: string;
  readonly fence: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Source;
  readonly attempt: number;
  /** True if a later event of the lane was done before this event arrived. */
  readonly late: boolean;
  /** In ms since 1970, on the store's clock. */
  readonly receivedAt: number;
  /** Trace of the batch that stored the event. */
  readonly trace: string | undefined;
}

/** Capacity of a claim for each event type. */
export interface ClaimRooms {
  /** Types with 0 or less are not claimed. */
  readonly byType: ReadonlyMap<string, number>;
  /** Capacity for each type missing in `byType`; 1 or more. */
  readonly others: number;
}

/** Outcome of ending an event as done, for its lane. */
export interface Advance {
  /** False if the lease was lost; the result is then discarded. */
  readonly held: boolean;
  /**
   * Next event of the lane, under the same lease with a new fence, or of another lane; `undefined` if the lane was
   * released.
   */
  readonly next?: Claim | undefined;
}

/**
 * State of a step before it runs. `ageMs` is the time since its intent was recorded. It is a duration because the store
 * and the bot may have different clocks.
 */
export type StepStart =
  /** The intent was just recorded. The inbox contains no earlier intent, though a restored backup may lack one. */
  | { readonly state: "new" }
  /** The intent was just recorded, and earlier attempts certainly had no effect. */
  | { readonly state: "absent" }
  /** An earlier run recorded the intent but no result, so the effect may have happened. */
  | { readonly state: "open"; readonly request: string; readonly ageMs: number }
  /** The step has a recorded result, `undefined` if a person settled the step, and its request. */
  | {
      readonly state: "done";
      readonly request: string;
      readonly result: string | undefined;
      readonly ageMs: number;
    };

/** Retention times in ms, counted from the end of an event. */
export interface Retention {
  /** Bodies, steps and history of done and discarded events. */
  readonly bodiesMs: number;
  /** Ids of done and discarded events, which detect duplicates. */
  readonly idsMs: number;
  /** Dead letters, with all their data. */
  readonly deadLettersMs: number;
  /** States, counted from their last write. Default: unlimited. */
  readonly statesMs?: number;
}

/** Capabilities that differ between inboxes. Callers check capabilities, never the kind of inbox. */
export interface InboxCapabilities {
  /** True if new events are refused while the disk is nearly full. Otherwise only commits fail. */
  readonly guardsDisk: boolean;
}

/** `taken`: another step has already claimed the effect, and nothing is recorded. `lost`: the lease was lost. */
export type ReconcileResult = "adopted" | "taken" | "lost";

export interface Inbox {
  readonly capabilities: InboxCapabilities;

  readonly admin: InboxAdmin;

  /**
   * State shared by several instances; `undefined` if only one process can use the inbox. Leases of a dead instance
   * expire; a single-process inbox ends them when it opens.
   */
  readonly shared: Shared | undefined;

  /**
   * Stores a batch and its cursors in one transaction, skipping known ids. Resolves once the batch is durable.
   *
   * @param trace stored with each event; see `core/trace.ts`
   * @throws {ServiceBotError} INBOX_FULL if the backlog has reached its limit and an event is new; STORE_UNAVAILABLE
   *   also if the disk is nearly full
   */
  put(
    events: readonly NewEvent[],
    source: Source,
    cursors?: readonly CursorMove[],
    trace?: string,
  ): Promise<PutResult>;

  /**
   * Leases up to `limit` ready lanes, and counts an attempt on the first event of each. The attempt is counted before
   * the handler runs, so that an event that kills the process still becomes a dead letter. Events with two or more
   * crashed runs are claimed one at a time, because the event at fault must not crash the others.
   *
   * With `rooms`, lanes whose first event has a type without capacity are skipped. Only the next `limit` lanes are
   * considered, so another claim may find more.
   */
  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]>;

  /** Stops claiming in this process. From now on other instances are notified of released lanes. */
  stopClaiming(): void;

  /** Extends leases. Resolves to the claims whose leases still hold. */
  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]>;

  /**
   * Ends the event as done. False if the lease was lost and the result is discarded, as for all methods below.
   *
   * @param effects written in the same transaction, as with `advance` and `bury`
   * @throws {ServiceBotError} STATE_CONFLICT if another run wrote a state after it was read: nothing is written, and
   *   the claim keeps its lease
   */
  complete(claim: Claim, effects?: Effects): Promise<boolean>;

  /**
   * Like `complete`, and continues with the lane's next event unless it must wait. The lease is unchanged unless it has
   * expired. Counts an attempt on the next event, as `claim` does.
   *
   * @param leaseMs allows a single-process inbox to continue with another ready lane instead: one with an event of the
   *   same type, leased as by `claim`. This saves the transaction of a claim.
   * @throws {ServiceBotError} STATE_CONFLICT as `complete` does
   */
  advance(claim: Claim, effects?: Effects, leaseMs?: number): Promise<Advance>;

  /** Leaves the event pending, and closes its lane for `delayMs`. */
  retry(claim: Claim, delayMs: number, error: string): Promise<boolean>;

  /**
   * Like `retry`, but does not count the attempt. Without an error the handler has not started, and no history is
   * recorded.
   */
  release(claim: Claim, delayMs: number, error?: string): Promise<boolean>;

  /**
   * Makes the event a dead letter, and lets its lane continue.
   *
   * @throws {ServiceBotError} STATE_CONFLICT as `complete` does
   */
  bury(claim: Claim, error: string, effects?: Effects): Promise<boolean>;

  /** Resolves to the existing states of these keys, in any order. */
  states(keys: readonly string[]): Promise<readonly StoredState[]>;

  /** Resolves to the timers of a name, sorted by key. */
  timers(name: TimerName): Promise<readonly StoredTimer[]>;

  /**
   * Replaces up to `limit` due timers with their events, in one transaction, even if the backlog is full. Writes
   * nothing if none is due.
   *
   * @param toEvent may be called again for a timer if the transaction was rolled back
   */
  fireTimers(limit: number, toEvent: (timer: StoredTimer) => NewEvent): Promise<FiredTimers>;

  /**
   * Calls `listener` with the ms until the earliest new timer is due, after a run of this process has set timers or
   * `admin` has made some due. Returns a function that unsubscribes.
   */
  onTimersSet(listener: (inMs: number) => void): () => void;

  /** Resolves to the ms until a lane becomes ready (0: now); `undefined` if none waits. */
  nextReadyIn(): Promise<number | undefined>;

  /** Makes idle lanes with pending events ready again. Resolves to their number. */
  heal(): Promise<number>;

  /** Deletes one small batch of expired data. Resolves to true if more may have expired. */
  sweep(keep: Retention): Promise<boolean>;

  /** Records the intent of a step unless one exists; `undefined` if the lease was lost. */
  beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined>;

  /**
   * Renews the intent of a step before another attempt, and deletes an earlier result. False if the lease was lost or
   * the step has no intent, as for all methods below.
   */
  restartStep(claim: Claim, name: string, request: string): Promise<boolean>;

  /** Records the result of a step. `ref` is the platform's id of the effect, if any. */
  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean>;

  /** Records an effect found on the platform as the result. At most one step has a given `ref`. */
  reconcileStep(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult>;

  /** Records that the effect of an open step cannot have happened. */
  dropStep(claim: Claim, name: string): Promise<boolean>;

  /** Resolves to those of the given platform ids that are results of steps. */
  claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Resolves to the requests of open steps of other lanes that began less than `withinMs` ago. Empty in a
   * single-process inbox, because the process tracks its own requests.
   */
  requestsUnderWay(claim: Claim, withinMs: number): Promise<readonly string[]>;

  cursor(name: string): Promise<string | undefined>;

  /** Resolves to the event types that ever arrived by webhook. */
  webhookTypes(): Promise<ReadonlySet<string>>;

  stats(): Promise<InboxStats>;

  /** Resolves to gauges for monitoring, with sizes on disk. */
  measure(): Promise<InboxMeasures>;

  ping(): Promise<void>;

  /** Calls `listener` when a lane may have become ready. Returns a function that unsubscribes. */
  onReady(listener: () => void): () => void;

  /**
   * Commits pending writes and closes the store. Lanes leased by a claim without a response are returned if the store
   * answers quickly. Later calls reject.
   */
  close(): Promise<void>;
}
