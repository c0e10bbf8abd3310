import type { StoredState, StoredTimer, TimerName } from "./effects.ts";
import type { SharedReport } from "./shared.ts";

/**
 * The inbox as people see it: records of events and of the store, decisions about events, and what commands find out
 * beside a bot. All times are milliseconds since 1970.
 */

/** The source from which an event came first. */
export type Source = "webhook" | "poll";

/** The state of an event. Dead letters are handled again only after a retry; discarded events never are. */
export type EventState = "pending" | "done" | "dead" | "discarded";

export const eventStates: readonly EventState[] = ["pending", "done", "dead", "discarded"];

/** One event, without its content. */
export interface EventSummary {
  readonly id: string;
  readonly type: string;
  /** Events of one lane are handled in order. */
  readonly lane: string;
  readonly state: EventState;
  readonly source: Source;
  /** Runs that count towards the limit, from 0 up; a retry by hand begins again at 0. */
  readonly attempts: number;
  /** True while a run of its handler has the lease of its lane. */
  readonly leased: boolean;
  /** When the bot received it, in milliseconds since 1970. */
  readonly receivedAt: number;
  /**
   * Names the delivery, or the reading of the log, that brought it. The log has it in the field `trace`. `undefined` for
   * events that an earlier version has stored.
   */
  readonly trace: string | undefined;
  /** When it was done, became a dead letter or was discarded. */
  readonly endedAt: number | undefined;
  /** The last error; `undefined` if there was none, and once the event is done. */
  readonly error: string | undefined;
  /** The reason with which a person discarded it. */
  readonly discardReason: string | undefined;
}

/** A run that did not end well. */
export interface AttemptRecord {
  /** `ctx.attempt` of the handler, from 1 up. */
  readonly number: number;
  /**
   * `failed`: run again later; `released`: put off without counting; `dead`: it was the last one; `crashed`: it never
   * recorded how it ended, as when the process is gone.
   */
  readonly outcome: "failed" | "released" | "dead" | "crashed";
  readonly error: string | undefined;
  /** When the run ended, or was found to have ended, in milliseconds since 1970. */
  readonly endedAt: number;
}

/** A step of an event's handler. */
export interface StepRecord {
  /** The name that the handler gave it; replies number themselves. */
  readonly name: string;
  /** `open`: it began, and may have taken effect. */
  readonly state: "open" | "done";
  /** A description of what it was about to do. */
  readonly request: string;
  /** JSON; `undefined` while the step is open, and if a person has settled it. */
  readonly result: string | undefined;
  /** The platform's id of what the step made, if it has one. */
  readonly ref: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** Everything about one event. */
export interface EventDetails extends EventSummary {
  /** The whole event as JSON text; `undefined` once it was dropped, some time after the event ended. */
  readonly body: string | undefined;
  /** The newest 50 runs that did not end well, in the order in which they ended. */
  readonly history: readonly AttemptRecord[];
  /** In the order in which they began. */
  readonly steps: readonly StepRecord[];
}

/** Numbers of events by their state. */
export interface InboxStats {
  /** Not handled yet, also while they wait for a retry. */
  readonly pending: number;
  /** Handled, as far as they are still known. */
  readonly done: number;
  /** Dead letters: they wait for a person. */
  readonly dead: number;
  /** When the oldest pending event was received. */
  readonly oldestPendingAt: number | undefined;
}

/** Numbers of lanes with pending events. */
export interface LaneReport {
  /** Their next event can begin. */
  readonly ready: number;
  /** Their next event waits for its next attempt. */
  readonly waiting: number;
  /** An event of theirs is being handled. */
  readonly leased: number;
  /** Waiting lanes with other events behind the one that waits. */
  readonly blocked: number;
}

/** The size of an inbox, in bytes. */
export interface StorageReport {
  /** The file, or the tables of the schema with their indexes. */
  readonly bytes: number;
  /** The WAL: commits that are not in the file yet; `undefined` if there is no file. */
  readonly walBytes: number | undefined;
}

/** {@link InboxStats} in more detail. */
export interface InboxReport extends InboxStats {
  /** Ended by a person, as far as they are still known. */
  readonly discarded: number;
  /** Pending events of each type that has any. */
  readonly pendingByType: Readonly<Record<string, number>>;
  /** Dead letters of each type that has any. */
  readonly deadByType: Readonly<Record<string, number>>;
  /** Dead letters by the name and code of their error, such as `ServiceBotError STEP_UNCERTAIN`: the 20 most frequent. */
  readonly deadByError: Readonly<Record<string, number>>;
  readonly lanes: LaneReport;
  readonly storage: StorageReport;
}

/** Gauges for a monitor, asked every few seconds. None takes longer with the number of ended events. */
export interface InboxMeasures {
  readonly pending: number;
  /** When the oldest pending event was received, in milliseconds since 1970. */
  readonly oldestPendingAt: number | undefined;
  readonly dead: number;
  /** `undefined` if the inbox is not on a disk of this machine. */
  readonly disk: DiskMeasures | undefined;
}

/** Sizes in bytes. */
export interface DiskMeasures {
  readonly database: number;
  /** Commits that are not in the database file yet. */
  readonly wal: number;
  /** `undefined` if the file system does not report it. */
  readonly free: number | undefined;
  /** New events are refused below this. */
  readonly minFree: number;
}

/**
 * Events that fit every field that is set. Times are milliseconds since 1970. They are compared with the end of an event,
 * or with its arrival while it is pending.
 */
export interface InboxFilter {
  /** An event type, exactly. */
  readonly type?: string | undefined;
  /** A lane, exactly: `dm:<conversation>`, `post:<post>`, `user:<username>` unless the option `lane` names them otherwise. */
  readonly lane?: string | undefined;
  /** The source from which it came first. */
  readonly source?: Source | undefined;
  /** A part of its last error, case-sensitive. */
  readonly error?: string | undefined;
  /** The code of its last error, such as `STEP_UNCERTAIN`. */
  readonly code?: string | undefined;
  /** Not before this time. */
  readonly since?: number | undefined;
  /** Before this time. */
  readonly until?: number | undefined;
}

/** A filter for a list, and the size of its pages. */
export interface InboxListOptions extends InboxFilter {
  /** All states by default. */
  readonly state?: EventState | undefined;
  /** Events of a page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the page before, with the same filter. */
  readonly after?: string | undefined;
}

/** One page of a list. */
export interface InboxPage {
  /** The newest first. */
  readonly events: readonly EventSummary[];
  /** Set if there are more. */
  readonly next: string | undefined;
}

/** A state, without its value. */
export interface StateSummary extends Omit<StoredState, "value"> {
  /** Size of its JSON. */
  readonly bytes: number;
}

/** A filter for a list of states, and the size of its pages. */
export interface StateListOptions {
  /** The beginning of their keys. */
  readonly prefix?: string | undefined;
  /** States of a page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** One page of states. */
export interface StatePage {
  /** In the order of their keys. */
  readonly states: readonly StateSummary[];
  /** Set if there are more. */
  readonly next: string | undefined;
}

/** A filter for a list of timers, and the size of its pages. */
export interface TimerListOptions {
  /** The lane in which they were set, exactly. */
  readonly lane?: string | undefined;
  /** The name of their handler, exactly. */
  readonly name?: string | undefined;
  /** Timers of a page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** One page of timers. */
export interface TimerPage {
  /** The one that is due first comes first. */
  readonly timers: readonly StoredTimer[];
  /** Set if there are more. */
  readonly next: string | undefined;
}

/** A cron pattern of a running bot. */
export interface CronView {
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  readonly missed: "last" | "none";
  /** In milliseconds since 1970; `undefined` if the pattern never matches again. */
  readonly nextAt: number | undefined;
  /** The event of its last moment; `undefined` if the inbox does not know it. */
  readonly last: Pick<EventSummary, "id" | "state" | "receivedAt"> | undefined;
}

/** Options of a retry: `assume` is knowledge that the inbox has not. */
export interface InboxRetryOptions extends InboxDecisionOptions {
  /**
   * The fate of steps that began and have no result. `done`: they took effect, and the handler goes on after them, with
   * `undefined` as their result. `absent`: they did not, and run again. By default the handler finds out by itself, and
   * the event becomes a dead letter again if it cannot.
   */
  readonly assume?: "done" | "absent" | undefined;
}

/** The progress of a decision about several events. */
export interface InboxProgress {
  /** Events decided about. */
  readonly done: number;
  /** All events of the decision. */
  readonly of: number;
}

/** Options of a decision about several events. */
export interface InboxDecisionOptions {
  /** Ends the decision when it aborts. What is decided stays so; `left` is the number of the others. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: InboxProgress) => void) | undefined;
}

/** A filter for dead letters that are to run again. */
export interface InboxRetryFilter extends InboxFilter {
  /** The most events, the oldest first. All by default. */
  readonly limit?: number | undefined;
}

/** A filter for events that are to end. */
export interface InboxDiscardFilter extends InboxRetryFilter {
  /** Default `dead`. */
  readonly state?: "dead" | "pending" | undefined;
}

/** The outcome of a decision about several events. */
export interface InboxChange {
  /** Events on which the decision took effect. */
  readonly changed: number;
  /** Events passed over: being handled, ended otherwise meanwhile, or without a body. */
  readonly skipped: number;
  /** Events not decided about because `signal` aborted. */
  readonly left?: number | undefined;
}

/**
 * The inbox as people see it, and their decisions about events that cannot be handled. A decision by filter is about the
 * events that fit when the call is made. It is carried out in small batches, and deliveries go on meanwhile. Every method
 * rejects with STORE_UNAVAILABLE if the store cannot do its work now.
 */
export interface InboxAdmin {
  /**
   * Lists events, the newest first: pending ones by their arrival, the others by their end, and all together by these
   * times. An event that ends between two pages is on neither, but at the top.
   *
   * @throws {ServiceBotError} CURSOR_INVALID
   */
  list(options?: InboxListOptions): Promise<InboxPage>;

  /**
   * Shows an event with its content, the runs that did not end well, and its steps.
   *
   * @throws {ServiceBotError} EVENT_NOT_FOUND
   */
  show(id: string): Promise<EventDetails>;

  /**
   * Makes dead letters pending again, with their attempts back at 0. They run as soon as their lane is free, with
   * `ctx.late` if later events of the lane were handled meanwhile.
   *
   * @param target an id, or a filter; `{}` is every dead letter
   * @throws {ServiceBotError} EVENT_NOT_FOUND, EVENT_NOT_DEAD, EVENT_BODY_DROPPED, for an id
   */
  retry(target: string | InboxRetryFilter, options?: InboxRetryOptions): Promise<InboxChange>;

  /**
   * Ends events for good. Their ids stay known, so that they never run even if they are delivered again.
   *
   * @param target an id, or a filter; `{}` is every dead letter
   * @param reason kept with the event; at most 500 characters of it
   * @throws {ServiceBotError} REASON_MISSING; EVENT_NOT_FOUND, EVENT_ENDED, EVENT_LEASED, for an id
   */
  discard(
    target: string | InboxDiscardFilter,
    reason: string,
    options?: InboxDecisionOptions,
  ): Promise<InboxChange>;

  /**
   * Finds the ids that a decision with this filter would be about, in their order. Changes nothing. The decision may pass
   * over some of them.
   */
  targets(filter: InboxDiscardFilter): Promise<readonly string[]>;

  /** Counts the events in each state, dead letters by type and error, and lanes. */
  stats(): Promise<InboxReport>;

  /** Lists the states that handlers have written, without their values. */
  states(options?: StateListOptions): Promise<StatePage>;

  /** Finds the state of a key; `undefined` if there is none. */
  state(key: string): Promise<StoredState | undefined>;

  /**
   * Deletes a state. The next run that asks for it begins anew. A run that has read it already is repeated.
   *
   * @returns false if there was none
   */
  deleteState(key: string): Promise<boolean>;

  /**
   * Lists the timers that are not due yet, or will become events in a moment.
   *
   * @throws {ServiceBotError} CURSOR_INVALID
   */
  timers(options?: TimerListOptions): Promise<TimerPage>;

  /**
   * Makes timers due now: one, or all of a lane and name. The bot fires them as always, each once: at once if it is asked,
   * and within 15 s if another process is.
   *
   * @returns their number
   */
  makeTimersDue(name: TimerName): Promise<number>;
}

/** The administration of a bot's inbox from another process. */
export interface AttachedInbox {
  readonly admin: InboxAdmin;
  /** True if a bot has the inbox open now. */
  served(): Promise<boolean>;
  /** The bot's instances; `undefined` if one process alone can use the inbox. */
  readonly together?: (() => Promise<SharedReport>) | undefined;
  close(): Promise<void>;
}

/** The place of an inbox, before a bot uses it. */
export interface InboxProbe {
  /** False if the bot will make it at its first start. */
  readonly exists: boolean;
  /** True if a bot has it open now. */
  readonly served: boolean;
}

/** Signs of trouble to come. Nothing is changed to find them. */
export type StoreHealth = FileHealth | ServerHealth;

/** A disk that is lost: with the memory of the machine (tmpfs), or with the container (overlay). */
export type EphemeralDisk = "memory" | "container";

export interface FileHealth {
  readonly kind: "file";
  /** Permissions of the file, as `stat` has them. */
  readonly mode: number;
  /** `undefined` if the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** New events are refused when less than this is free. */
  readonly minFreeBytes: number;
  readonly bytes: number;
  readonly walBytes: number;
  /** The name of a file system on another machine. */
  readonly network: string | undefined;
  /** Damage that SQLite finds; `undefined` if the file is too large to be looked through. */
  readonly damage: readonly string[] | undefined;
}

export interface ServerHealth {
  readonly kind: "server";
  readonly version: string;
  /** Transactions that have been open for long. The server cleans up only what is older than they are. */
  readonly longOpen: readonly {
    readonly pid: number;
    readonly application: string;
    readonly state: string;
    readonly seconds: number;
  }[];
}
