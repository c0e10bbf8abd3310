/**
 * Contract of the durable inbox. The webhook and the poller put events in, and the dispatcher takes them out.
 * docs/internals/guarantees.md explains the design.
 *
 * A *lane* is the unit of claiming. A *claim* is a lease on the first pending event of a lane. Each claim of a lane
 * gets a higher *fence*. A claim whose fence is not the latest has lost its lease, and the inbox refuses its writes.
 *
 * The history of an event holds the newest 50 runs that did not succeed (`retry`, `release`, `bury`, and crashes).
 *
 * Promises settle once the data is committed. A power loss may undo outcomes, claims and results of direct messages for
 * about a second. Everything else is durable. If the store does not respond, every method rejects with a
 * `ServiceBotError` STORE_UNAVAILABLE and has written nothing, unless only the sync of a file has failed.
 */

import type { AnyEvent } from "../events/types.ts";
import type { InboxAdmin, InboxMeasures, InboxStats } from "./admin.ts";
import type { Effects, FiredTimers, StoredState, StoredTimer, TimerName } from "./effects.ts";
import type { SkipReason, Source } from "./event-records.ts";
import type { Shared } from "./shared.ts";

export type { InboxStats } from "./admin.ts";
export type { Source } from "./event-records.ts";

/** Name of the event log cursor, and of the lease held by the instance that reads the log. */
export const EVENT_LOG = "events";

export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  /**
   * Sort key within the lane, compared byte by byte; see `orderKey` and `untimedKey`. Empty for the bot's own events,
   * which sort first and are never late.
   */
  readonly ord: string;
  /** The event as JSON. */
  readonly body: string;
  /** The event in `body`, for a claim in the transaction that stores it. */
  readonly event?: AnyEvent;
  /** Reason why the event cannot be handled. An event with a reason is stored as a dead letter. */
  readonly unusable?: string;
}

/** A cursor's new position, written in the transaction that stores the events before it. */
export interface CursorMove {
  readonly name: string;
  readonly position: string;
  /**
   * Term of the cursor's leader. With a term, the cursor moves only while the term lasts. Without one, it always moves.
   */
  readonly term?: number | undefined;
}

export interface PutResult {
  /** Ids of the new events, in batch order. */
  readonly stored: readonly string[];
  /** Number of events that were already stored or occur twice in the batch. */
  readonly duplicates: number;
  /** Number of events stored as dead letters. */
  readonly unusable: number;
  /** True if a cursor did not move because its term is over. The events are stored even so. */
  readonly termOver?: boolean;
}

/** A leased event. `attempt` is the number of this run, starting at 1. */
export interface Claim {
  /** Number of runs of this event that never recorded an outcome, for example because the process died. */
  readonly crashes: number;
  readonly lane: string;
  readonly fence: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  /** The event in `body`. Absent if the store has read the event back. */
  readonly event?: AnyEvent | undefined;
  readonly source: Source;
  readonly attempt: number;
  /** True if a later event in the lane was done before this event arrived. */
  readonly late: boolean;
  /** In ms since 1970, on the store's clock. */
  readonly receivedAt: number;
  /** Trace of the batch that stored the event. */
  readonly trace: string | undefined;
}

/** Number of events of each type that a claim may take. */
export interface ClaimRooms {
  /** Types with a capacity of 0 or less are not claimed. */
  readonly byType: ReadonlyMap<string, number>;
  /** Capacity for each type missing from `byType`; 1 or more. */
  readonly others: number;
}

/** Result of ending an event as done and continuing its lane. */
export interface Advance {
  /** False if the lease was lost, so the result was discarded. */
  readonly held: boolean;
  /**
   * The lane's next event under the same lease with a new fence, or another lane's event. `undefined` if the lane was
   * released.
   */
  readonly next?: Claim | undefined;
}

/**
 * State of a step before it runs. `ageMs` is the time since its intent was recorded. It is a duration because the
 * store's clock and the bot's clock may differ.
 */
export type StepStart =
  /**
   * The intent was just recorded, and the inbox contains no earlier intent. After a restore, an earlier intent may be
   * missing because the backup lacks it.
   */
  | { readonly state: "new" }
  /** The intent was just recorded, and earlier attempts definitely had no effect. */
  | { readonly state: "absent" }
  /** An earlier run recorded the intent but no result, so the effect may have happened. */
  | { readonly state: "open"; readonly request: string; readonly ageMs: number }
  /** The step has a recorded request and result. The result is `undefined` if an operator settled the step. */
  | {
      readonly state: "done";
      readonly request: string;
      readonly result: string | undefined;
      readonly ageMs: number;
    };

/** Retention times in ms, counted from the end of each event. */
export interface Retention {
  /** Bodies, steps and history of done and discarded events. */
  readonly bodiesMs: number;
  /** Ids of done and discarded events, which detect duplicates. */
  readonly idsMs: number;
  /** Dead letters, with all their data. */
  readonly deadLettersMs: number;
  /** States, counted from their last write. Unlimited by default. */
  readonly statesMs?: number;
}

/** A lasting problem, such as a file that was removed under a running bot. */
export interface InboxProblem {
  /** Sentence that names the file and what happened. */
  readonly message: string;
}

/** Capabilities that differ between inboxes. Callers check a capability, never the kind of inbox. */
export interface InboxCapabilities {
  /** True if new events are refused while the disk is nearly full. False if commits fail only once the disk is full. */
  readonly guardsDisk: boolean;
}

/** `taken`: another step has already claimed the effect, so nothing was recorded. `lost`: the lease was lost. */
export type ReconcileResult = "adopted" | "taken" | "lost";

export interface Inbox {
  readonly capabilities: InboxCapabilities;

  readonly admin: InboxAdmin;

  /**
   * State shared by several instances. `undefined` if only one process can use the inbox. Here, another instance ends a
   * dead instance's leases, or they expire; a single-process inbox ends them when it opens.
   */
  readonly shared: Shared | undefined;

  /** Lasting problem that an operator must solve. The inbox refuses writes until then. `undefined` if there is none. */
  readonly problem: InboxProblem | undefined;

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
   * crashed runs are claimed one at a time, so that an event that crashes the process does not count attempts on the
   * others.
   *
   * With `rooms`, the claim skips lanes whose first event has a type without capacity. It considers only the next
   * `limit` lanes, so another claim may find more.
   */
  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]>;

  /** Stops claiming in this process. Afterwards, other instances are notified when this process releases lanes. */
  stopClaiming(): void;

  /** Extends leases. Resolves to the claims that still hold their leases. */
  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]>;

  /**
   * Ends the event as done. Resolves to false if the lease was lost, so the result was discarded. The methods below do
   * the same.
   *
   * @param effects written in the same transaction, as with `advance` and `bury`
   * @param skipped recorded with the event if no handler ran for it, as with `advance`
   * @throws {ServiceBotError} STATE_CONFLICT if another run wrote a state after this run had read it. Nothing is
   *   written, and the claim keeps its lease.
   */
  complete(claim: Claim, effects?: Effects, skipped?: SkipReason): Promise<boolean>;

  /**
   * Like `complete`, but also continues with the lane's next event unless that event must wait. The lease is not
   * extended. Counts an attempt on the next event, as `claim` does.
   *
   * @param leaseMs allows a single-process inbox to continue with another ready lane if this lane has no event to run.
   *   The new event has the same type, and its lane is leased for `leaseMs`. This saves the transaction of a claim.
   * @throws {ServiceBotError} STATE_CONFLICT as `complete` does
   */
  advance(
    claim: Claim,
    effects?: Effects,
    leaseMs?: number,
    skipped?: SkipReason,
  ): Promise<Advance>;

  /** Leaves the event pending and keeps its lane closed for `delayMs`. */
  retry(claim: Claim, delayMs: number, error: string): Promise<boolean>;

  /**
   * Like `retry`, but does not count the attempt. Without an error, the handler has not started and no history is
   * recorded.
   */
  release(claim: Claim, delayMs: number, error?: string): Promise<boolean>;

  /**
   * Makes the event a dead letter. Its lane continues.
   *
   * @throws {ServiceBotError} STATE_CONFLICT as `complete` does
   */
  bury(claim: Claim, error: string, effects?: Effects): Promise<boolean>;

  /** Resolves to the states stored under these keys, in any order. */
  states(keys: readonly string[]): Promise<readonly StoredState[]>;

  /** Resolves to the timers with this name, sorted by key. */
  timers(name: TimerName): Promise<readonly StoredTimer[]>;

  /**
   * Replaces up to `limit` due timers with their events, in one transaction, even if the backlog is full. Writes
   * nothing if no timer is due.
   *
   * @param toEvent may be called again for a timer if the transaction was rolled back
   */
  fireTimers(limit: number, toEvent: (timer: StoredTimer) => NewEvent): Promise<FiredTimers>;

  /**
   * Calls `listener` whenever a run in this process sets timers, or `admin` makes timers due. The argument is the time
   * in ms until the earliest of them. Returns an unsubscribe function.
   */
  onTimersSet(listener: (inMs: number) => void): () => void;

  /**
   * Resolves to the time in ms until a lane becomes ready, or 0 if one is ready now. `undefined` if no lane is waiting.
   */
  nextReadyIn(): Promise<number | undefined>;

  /** Makes idle lanes with pending events ready again. Resolves to the number of lanes. */
  heal(): Promise<number>;

  /** Deletes one small batch of expired data. Resolves to true if more may have expired. */
  sweep(keep: Retention): Promise<boolean>;

  /** Records a step's intent unless one exists. Resolves to `undefined` if the lease was lost. */
  beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined>;

  /**
   * Renews a step's intent before another attempt, and deletes any earlier result. Resolves to false if the lease was
   * lost or the step has no intent. The methods below do the same.
   */
  restartStep(claim: Claim, name: string, request: string): Promise<boolean>;

  /** Records a step's result. `ref` is the effect's id on the platform, if it has one. */
  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean>;

  /**
   * Records an effect found on the platform as the step's result. A given `ref` belongs to at most one step.
   *
   * @param isProvisional true if the effect may be another step's
   */
  reconcileStep(
    claim: Claim,
    name: string,
    result: string,
    ref: string,
    isProvisional?: boolean,
  ): Promise<ReconcileResult>;

  /** Records that an open step's effect cannot have happened. */
  dropStep(claim: Claim, name: string): Promise<boolean>;

  /** Resolves to those of the given platform ids that a step has recorded as its result. */
  claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>>;

  /** Resolves to the times since steps provisionally adopted any of the given platform ids, in ms. */
  provisionalAdoptions(refs: readonly string[]): Promise<readonly number[]>;

  /**
   * Resolves to the requests of other lanes' open steps that began less than `withinMs` ago. Empty in a single-process
   * inbox, whose process tracks its own requests.
   */
  requestsUnderWay(claim: Claim, withinMs: number): Promise<readonly string[]>;

  cursor(name: string): Promise<string | undefined>;

  /** Resolves to the event types that have ever arrived by webhook. */
  webhookTypes(): Promise<ReadonlySet<string>>;

  /**
   * Records that a webhook delivery was stored `msAgo` ms ago. A power loss may undo the write. {@link put} does not
   * record it, because that would write another row for each delivery.
   */
  noteDelivery(msAgo: number): Promise<void>;

  /** Resolves to the age of the last webhook delivery that the inbox has noted, in ms. `undefined` if there is none. */
  deliveredMsAgo(): Promise<number | undefined>;

  stats(): Promise<InboxStats>;

  /** Resolves to gauges for monitoring, with sizes on disk. */
  measure(): Promise<InboxMeasures>;

  ping(): Promise<void>;

  /** Calls `listener` when a lane may have become ready. Returns an unsubscribe function. */
  onReady(listener: () => void): () => void;

  /**
   * Calls `listener` when another process may have taken over leases of this process before they expired. Never called
   * by a single-process inbox. Returns an unsubscribe function.
   */
  onLeasesInDoubt(listener: () => void): () => void;

  /**
   * Commits pending writes and closes the store. If a claim received no response, its lanes are released, provided that
   * the store responds quickly. Later calls reject.
   */
  close(): Promise<void>;
}
