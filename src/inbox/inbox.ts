/**
 * The contract of the durable inbox: webhook and polling put events in, and the dispatcher takes them out. The design
 * behind it is in docs/internals/guarantees.md.
 *
 * A *lane* is the unit of claiming. A *claim* is the first pending event of a lane, leased for a while. The *fence* counts
 * the claims of a lane: a claim with an earlier fence than its lane has lost its lease, and its writes are refused.
 *
 * Runs that do not end well (`retry`, `release`, `bury`, and crashes) are the history of their event, the newest 50.
 *
 * Promises settle once the data is durable. Every method rejects with a `ServiceBotError` STORE_UNAVAILABLE if the store
 * cannot do its work now; nothing is written in part.
 */

import type { InboxAdmin, InboxMeasures, InboxStats, Source } from "./admin.ts";
import type { Effects, FiredTimers, StoredState, StoredTimer, TimerName } from "./effects.ts";
import type { Shared } from "./shared.ts";

export type { InboxStats, Source } from "./admin.ts";

/** The cursor of the platform's event log, and the lease of its reader. */
export const EVENT_LOG = "events";

/** An event on its way in. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  /**
   * Sorts the events of a lane, byte by byte; see `orderKey`. Empty for an event of the bot's own: it comes first, and is
   * never late.
   */
  readonly ord: string;
  /** The whole event as JSON text. */
  readonly body: string;
  /** The reason why the event cannot be handled: it is stored as a dead letter. */
  readonly unusable?: string;
}

/** A position in the platform's log. It is written together with the events before it. */
export interface CursorMove {
  readonly name: string;
  readonly position: string;
  /** The term of the leader of that name: the cursor moves only while the term lasts. Without one it always moves. */
  readonly term?: number | undefined;
}

export interface PutResult {
  /** Ids that were not known before, in the order of the batch. */
  readonly stored: readonly string[];
  /** Events that were known, or twice in the batch. */
  readonly duplicates: number;
  /** Stored events that are dead letters at once. */
  readonly unusable: number;
  /** True if a cursor was not moved because its term is over. The events are stored. */
  readonly termOver?: boolean;
}

/** One event, leased. `attempt` counts this run, from 1 up. */
export interface Claim {
  /** Runs of this event that never recorded how they ended, as when the process was gone. */
  readonly crashes: number;
  readonly lane: string;
  readonly fence: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Source;
  readonly attempt: number;
  /** True if a later event of the lane was done before this one arrived. */
  readonly late: boolean;
  /** Milliseconds since 1970, on the store's clock. */
  readonly receivedAt: number;
  /** The trace of the batch that brought it. */
  readonly trace: string | undefined;
}

/** The events of each type that a claim may take. */
export interface ClaimRooms {
  /** No event of a type with 0 or less. */
  readonly byType: ReadonlyMap<string, number>;
  /** Room for each type that is not in `byType`; 1 or more. */
  readonly others: number;
}

/** The outcome of ending an event as done, for its lane. */
export interface Advance {
  /** False if the lease was lost: the result is dropped. */
  readonly held: boolean;
  /**
   * The next event of the lane, under the same lease with a fence of its own, or of another one; `undefined` if the lane was
   * let go.
   */
  readonly next?: Claim | undefined;
}

/**
 * The record of a step that is about to run. `ageMs` is the time since its intent was recorded, in ms: a span,
 * because the store may have another clock than the bot.
 */
export type StepStart =
  /** The intent has just been recorded. The inbox knows of no earlier one, which a backup may have missed. */
  | { readonly state: "new" }
  /** The intent has just been recorded, and everything tried before is known to have come to nothing. */
  | { readonly state: "absent" }
  /** An earlier run recorded the intent and no result: the effect may or may not have happened. */
  | { readonly state: "open"; readonly request: string; readonly ageMs: number }
  /** The step has a result, `undefined` if a person has settled it; and the request that was recorded for it. */
  | {
      readonly state: "done";
      readonly request: string;
      readonly result: string | undefined;
      readonly ageMs: number;
    };

/** The time for which data is kept, in ms: of ended events after their end. */
export interface Retention {
  /** Bodies, steps and history of done and discarded events. */
  readonly bodiesMs: number;
  /** Ids of done and discarded events, by which repeats are recognised. */
  readonly idsMs: number;
  /** Dead letters, with everything about them. */
  readonly deadLettersMs: number;
  /** States, after they were last written. For ever by default. */
  readonly statesMs?: number;
}

/** Abilities that one kind of inbox has and another has not. Callers ask for these, never for the kind. */
export interface InboxCapabilities {
  /** True if new events are refused while the disk is nearly full; otherwise only commits fail. */
  readonly guardsDisk: boolean;
}

/** `taken`: another step has the effect already, and nothing is recorded. `lost`: the lease was lost. */
export type ReconcileResult = "adopted" | "taken" | "lost";

export interface Inbox {
  readonly capabilities: InboxCapabilities;

  /** The inbox as people see it, and their decisions about events. */
  readonly admin: InboxAdmin;

  /**
   * State that several instances share; `undefined` if one process alone can use the inbox. The leases of an instance that is
   * gone run out by themselves; an inbox of one process ends them when it is opened.
   */
  readonly shared: Shared | undefined;

  /**
   * Stores a batch in one transaction, with the cursors that belong to it, and passes over known ids. Resolves once it is
   * on disk.
   *
   * @param trace kept with each stored event; see `core/trace.ts`
   * @throws {ServiceBotError} INBOX_FULL if the backlog has reached its limit and an event is new; STORE_UNAVAILABLE also
   *   if the disk is nearly full
   */
  put(
    events: readonly NewEvent[],
    source: Source,
    cursors?: readonly CursorMove[],
    trace?: string,
  ): Promise<PutResult>;

  /**
   * Leases up to `limit` lanes that are ready, and counts an attempt on the first event of each. That is before the
   * handler runs, so that an event that kills the process still reaches the dead letters. Events whose runs ended with the
   * process twice or more are claimed one at a time: the guilty one must not take the others along.
   *
   * With `rooms`, lanes whose first event is of a type without room are passed over. Of the next `limit` lanes those
   * within their rooms are taken, so another claim may find more.
   */
  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]>;

  /** Ends claiming here. From now on other instances are notified when lanes are let go. */
  stopClaiming(): void;

  /** Extends leases. Resolves to the claims that still have theirs. */
  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]>;

  /**
   * Ends the event as done. False if the lease was lost, as with all that follow: the result is dropped.
   *
   * @param effects written in the same transaction, as with `advance` and `bury`
   * @throws {ServiceBotError} STATE_CONFLICT if a state was written by another run since it was read: nothing is written,
   *   and the claim keeps its lease
   */
  complete(claim: Claim, effects?: Effects): Promise<boolean>;

  /**
   * Like `complete`, and goes on with the next event of the lane if there is one that need not wait. The lease stays as
   * it is, unless it has run out. An attempt of the next event is counted as `claim` does.
   *
   * @param leaseMs allows a lane of its own to come next instead: one that is ready, with an event of the same type, leased
   *   as `claim` does. Inboxes that one process alone uses do that: the claim needs no transaction then.
   * @throws {ServiceBotError} STATE_CONFLICT as `complete` does
   */
  advance(claim: Claim, effects?: Effects, leaseMs?: number): Promise<Advance>;

  /** Leaves the event pending, and its lane closed for `delayMs`. */
  retry(claim: Claim, delayMs: number, error: string): Promise<boolean>;

  /** Like `retry`, and gives the attempt back. Without an error the handler has not begun, and no history is kept. */
  release(claim: Claim, delayMs: number, error?: string): Promise<boolean>;

  /**
   * Makes the event a dead letter, and lets its lane go on.
   *
   * @throws {ServiceBotError} STATE_CONFLICT as `complete` does
   */
  bury(claim: Claim, error: string, effects?: Effects): Promise<boolean>;

  /** Resolves to the states that there are of these keys, in any order. */
  states(keys: readonly string[]): Promise<readonly StoredState[]>;

  /** Resolves to the timers of that name, by their keys. */
  timers(name: TimerName): Promise<readonly StoredTimer[]>;

  /**
   * Removes up to `limit` timers that are due, and stores the events that they become, in one transaction. The backlog may
   * be full. Does not write if none is due.
   *
   * @param toEvent may be called again for a timer if the transaction was undone
   */
  fireTimers(limit: number, toEvent: (timer: StoredTimer) => NewEvent): Promise<FiredTimers>;

  /**
   * Calls `listener` with the ms until the first of them is due, after a run that ended here has set timers, or `admin` has
   * made some due. Returns a function that ends it.
   */
  onTimersSet(listener: (inMs: number) => void): () => void;

  /** Resolves to the ms until a lane becomes ready (0: now); `undefined` if none waits. */
  nextReadyIn(): Promise<number | undefined>;

  /** Makes idle lanes with pending events ready again. Resolves to their number. */
  heal(): Promise<number>;

  /** Drops one small batch of what is older than its retention. Resolves to true while there is more to look at. */
  sweep(keep: Retention): Promise<boolean>;

  /** Records the intent of a step unless there is one. `undefined` if the lease was lost. */
  beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined>;

  /**
   * Renews the intent of a step before its effect is tried again, and forgets an earlier result. False if the lease was
   * lost or the step has no intent, as with all that follow.
   */
  restartStep(claim: Claim, name: string, request: string): Promise<boolean>;

  /** Records the result of a step. `ref` is the platform's id of what the step made, if it has one. */
  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean>;

  /** Records as the result an effect that was found rather than made. At most one step has a `ref`. */
  adoptStep(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult>;

  /** Remembers of an open step that its effect cannot have happened. */
  dropStep(claim: Claim, name: string): Promise<boolean>;

  /** Resolves to those of these platform ids that are results of steps. */
  claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Resolves to the requests of open steps of other lanes, begun less than `withinMs` ago. None if one process alone uses
   * the inbox, because that process knows them.
   */
  requestsUnderWay(claim: Claim, withinMs: number): Promise<readonly string[]>;

  /** Resolves to the stored position of a cursor. */
  cursor(name: string): Promise<string | undefined>;

  /** Resolves to the event types that ever came by webhook. */
  webhookTypes(): Promise<ReadonlySet<string>>;

  stats(): Promise<InboxStats>;

  /** Counts for a monitor, and the sizes on the disk. */
  measure(): Promise<InboxMeasures>;

  /** Resolves if the store answers. */
  ping(): Promise<void>;

  /** Calls `listener` when a lane may have become ready. Returns a function that ends it. */
  onReady(listener: () => void): () => void;

  /**
   * Commits what was accepted, and closes the store. Lanes that were leased without an answer are handed back if the store
   * answers within a moment. Later calls reject.
   */
  close(): Promise<void>;
}
