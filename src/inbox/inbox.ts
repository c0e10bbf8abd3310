/**
 * The contract of the durable inbox: both doors (webhook and polling) put events in, the dispatcher
 * takes them out. The design behind it is in docs/guarantees.md.
 *
 * Words: a *lane* is what is claimed; a *claim* is one lane's first pending event, leased for a while;
 * the *fence* counts the claims of a lane, and a claim whose fence is no longer the lane's has lost
 * its lease: whatever it still wants to write is refused.
 *
 * Runs that do not end well (`retry`, `release`, `bury`, and those that never say how they ended) are kept
 * as the history of their event, the newest 50 of each.
 *
 * Promises settle after the data is durable. Every method rejects with a `ServiceBotError`
 * STORE_UNAVAILABLE when the store cannot do it now; nothing is written in part.
 */

import type { InboxAdmin } from "./admin.ts";

import type { InboxMeasures, InboxStats, Source } from "./records.ts";
import type { Shared } from "./shared.ts";

export type { InboxStats, Source } from "./records.ts";

/** What leads the reading of the platform's event log is named like the cursor that it moves. */
export const EVENT_LOG = "events";

/** An event on its way in. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  /** Sorts the events of a lane, byte by byte; see `orderKey`. */
  readonly ord: string;
  /** The whole event as JSON text. */
  readonly body: string;
  /** Set when the event cannot be handled: it is stored as a dead letter with this reason. */
  readonly unusable?: string;
}

/** A position in the platform's log that is written together with the events read before it. */
export interface CursorMove {
  readonly name: string;
  readonly position: string;
  /**
   * The term of the leader of that name, where several instances share the inbox: the cursor moves only while it
   * lasts. Without one it moves in any case.
   */
  readonly term?: number | undefined;
}

export interface PutResult {
  /** The ids that were not there before, in the order in which they were given. */
  readonly stored: readonly string[];
  /** How many were there already (or twice in this batch). */
  readonly duplicates: number;
  /** How many of the stored ones went to the dead letters at once. */
  readonly unusable: number;
  /** True when a cursor was not moved, because its term is over. The events are stored all the same. */
  readonly termOver?: boolean;
}

/** One event, leased to whoever claimed it. `attempt` counts this run, from 1 up. */
export interface Claim {
  /** How many runs of this event never said how they ended, as when the process was gone. */
  readonly crashes: number;
  readonly lane: string;
  readonly fence: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Source;
  readonly attempt: number;
  /** True when a later event of the same lane was done before this one arrived. */
  readonly late: boolean;
  /** Milliseconds since 1970, on the store's clock. */
  readonly receivedAt: number;
  /** What was given with the batch that brought it. */
  readonly trace: string | undefined;
}

/** How many events of each type a claim may take. */
export interface ClaimRooms {
  /** None where it is 0 or less. */
  readonly byType: ReadonlyMap<string, number>;
  /** Room for each type that is not in `byType`; 1 or more. */
  readonly others: number;
}

/** What became of an event that was done, and of its lane. */
export interface Advance {
  /** False when the lease was lost: the result is dropped. */
  readonly held: boolean;
  /** The lane's next event, under the same lease with a fence of its own; undefined: the lane was let go. */
  readonly next?: Claim | undefined;
}

/**
 * What is known of a step when it is about to run. `ageMs` is how long ago its intent was recorded, in
 * milliseconds: a span, for the store's clock may be another one than the bot's.
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

/** How long what has ended is kept, in milliseconds after its end. */
export interface Retention {
  /** Bodies, steps and history of what is done or discarded. */
  readonly bodiesMs: number;
  /** Ids, by which repeats are recognised, of what is done or discarded. */
  readonly idsMs: number;
  /** Dead letters, with everything about them. */
  readonly deadLettersMs: number;
}

/** What one kind of inbox does and another does not. Callers ask for this, never for the kind. */
export interface InboxCapabilities {
  /** True when new events are refused while the disk is nearly full; else only a commit that fails tells. */
  readonly guardsDisk: boolean;
}

/** `taken`: another step has the effect already, and nothing is recorded. `lost`: the lease was lost. */
export type ReconcileResult = "adopted" | "taken" | "lost";

export interface Inbox {
  readonly capabilities: InboxCapabilities;

  /** For people: what is in the inbox, and what becomes of what could not be handled. */
  readonly admin: InboxAdmin;

  /**
   * What several instances have together; undefined where only one can use the inbox. The leases of an instance
   * that is gone run out by themselves; an inbox of one process ends them when it is opened.
   */
  readonly shared: Shared | undefined;

  /**
   * Stores a batch in one transaction, with the cursors that belong to it. Events whose id is known
   * are passed over. Resolves once it is on disk.
   *
   * @param trace kept with each event that is stored; see `core/trace.ts`
   * @throws {ServiceBotError} INBOX_FULL when the backlog has reached its limit and not all of these
   *   are known; STORE_UNAVAILABLE also
   *   when the disk is nearly full
   */
  put(
    events: readonly NewEvent[],
    source: Source,
    cursors?: readonly CursorMove[],
    trace?: string,
  ): Promise<PutResult>;

  /**
   * Leases up to `limit` lanes that are ready, and counts an attempt on the first event of each:
   * before the handler runs, so that one which kills the process still reaches the dead letters.
   * Of the events whose runs ended with the process twice or more, one at a time: the one that is the
   * reason must not take the others along.
   *
   * With `rooms`, lanes whose first event is of a type without room are passed over as they are. Of the next `limit` lanes
   * those within their rooms are taken, so a further claim may find more.
   */
  claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]>;

  /**
   * Says that nothing more is claimed here. Where several instances share the inbox, the others are told from now on
   * when lanes are let go.
   */
  stopClaiming(): void;

  /** Extends leases. Resolves to the claims that still hold theirs. */
  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]>;

  /** Marks the event as done. False when the lease was lost: the result is dropped. */
  complete(claim: Claim): Promise<boolean>;

  /**
   * Like `complete`, and goes on with the next event of the lane, where there is one that need not wait: the lease
   * stays, and ends when it would have; one that has run out ends here. That event's attempt is counted as `claim`
   * counts it.
   */
  advance(claim: Claim): Promise<Advance>;

  /** Leaves the event pending and its lane closed for `delayMs`. False when the lease was lost. */
  retry(claim: Claim, delayMs: number, error: string): Promise<boolean>;

  /**
   * Like `retry`, and gives the attempt back. For what is not the event's fault. Without an error its handler has not
   * begun: then its history has nothing of it.
   */
  release(claim: Claim, delayMs: number, error?: string): Promise<boolean>;

  /** Makes the event a dead letter and lets its lane go on. False when the lease was lost. */
  bury(claim: Claim, error: string): Promise<boolean>;

  /** Milliseconds until a lane becomes ready (0: now); undefined when none is waiting. */
  nextReadyIn(): Promise<number | undefined>;

  /** Makes idle lanes that have pending events ready again. Resolves to how many there were. */
  heal(): Promise<number>;

  /**
   * Drops one small batch of what is older than it need be, and gives free space back. Resolves to true
   * while there is more to look at.
   */
  sweep(keep: Retention): Promise<boolean>;

  /** Records the intent of a step unless there is one. Undefined when the lease was lost. */
  beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined>;

  /**
   * Renews the intent of a step before its effect is tried again; a result that it had is forgotten.
   * False when the lease was lost.
   */
  restartStep(claim: Claim, name: string, request: string): Promise<boolean>;

  /**
   * Records the result of a step. `ref` is the platform's id of what the step made, where it has one.
   * False when the lease was lost.
   */
  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean>;

  /** Records as the result an effect that was found rather than made. At most one step has a `ref`. */
  adoptStep(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult>;

  /** Remembers of an open step that its effect cannot have happened. False when the lease was lost. */
  dropStep(claim: Claim, name: string): Promise<boolean>;

  /** Which of these platform ids are results of steps already. */
  claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * The requests of steps that other lanes are in the middle of, begun less than `withinMs` milliseconds ago. None where
   * one process alone uses the inbox: it knows them.
   */
  requestsUnderWay(claim: Claim, withinMs: number): Promise<readonly string[]>;

  /** The stored position of a cursor. */
  cursor(name: string): Promise<string | undefined>;

  /** The event types that ever came by webhook, as far as the inbox remembers. */
  webhookTypes(): Promise<ReadonlySet<string>>;

  stats(): Promise<InboxStats>;

  /** The same for a monitor, and what the inbox takes on a disk. */
  measure(): Promise<InboxMeasures>;

  /** Resolves when the store answers. */
  ping(): Promise<void>;

  /** Calls `listener` when a lane may have become ready. Returns what ends that. */
  onReady(listener: () => void): () => void;

  /**
   * Finishes what was accepted and closes the store. Lanes that were leased without an answer are handed back, if
   * the store answers within a moment. Further calls reject.
   */
  close(): Promise<void>;
}
