import type { StoredState, StoredTimer, TimerName } from "./effects.ts";
import type { SharedReport } from "./shared.ts";

/**
 * Administration of the inbox: records of events and of the store, decisions about events, and reports for commands
 * that run beside a bot. All times are in ms since 1970.
 */

/** Source of an event's first arrival. */
export type Source = "webhook" | "poll";

/** State of an event. Dead letters run again only after a retry; discarded events never run. */
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
  /** Runs that count towards the limit, from 0 up. A manual retry resets the count to 0. */
  readonly attempts: number;
  /** True while a run has the lease of the event's lane. */
  readonly leased: boolean;
  /** Time when the bot received the event, in ms since 1970. */
  readonly receivedAt: number;
  /**
   * Trace of the delivery or log read that stored the event, the field `trace` of the log. `undefined` for events
   * stored by an earlier version.
   */
  readonly trace: string | undefined;
  /** Time when the event was done, became a dead letter or was discarded. */
  readonly endedAt: number | undefined;
  /** Last error; `undefined` if there was none or the event is done. */
  readonly error: string | undefined;
  /** Reason given on discarding the event. */
  readonly discardReason: string | undefined;
}

/** A run that did not succeed. */
export interface AttemptRecord {
  /** `ctx.attempt` of the handler, from 1 up. */
  readonly number: number;
  /**
   * `failed`: a retry follows. `released`: postponed without counting the attempt. `dead`: the last attempt. `crashed`:
   * the run never recorded an outcome, as when its process died.
   */
  readonly outcome: "failed" | "released" | "dead" | "crashed";
  readonly error: string | undefined;
  /** Time when the run ended, or was found to have ended, in ms since 1970. */
  readonly endedAt: number;
}

/** A step of an event's handler. */
export interface StepRecord {
  /** Name given by the handler; replies are numbered. */
  readonly name: string;
  /** `open`: the step began and may have taken effect. */
  readonly state: "open" | "done";
  /** Description of the intended effect. */
  readonly request: string;
  /** JSON; `undefined` while the step is open, and if a person settled the step. */
  readonly result: string | undefined;
  /** The platform's id of the effect, if any. */
  readonly ref: string | undefined;
  /** Start of the step, in ms since 1970. */
  readonly startedAt: number;
}

/** An event with its content, failed runs and steps. */
export interface EventDetails extends EventSummary {
  /** The event as JSON; `undefined` once its content was deleted, some time after the event ended. */
  readonly body: string | undefined;
  /** The newest 50 runs that did not succeed, in the order in which they ended. */
  readonly history: readonly AttemptRecord[];
  /** In the order in which they began. */
  readonly steps: readonly StepRecord[];
}

/** Numbers of events by state. */
export interface InboxStats {
  /** Events not handled yet, including events that wait for a retry. */
  readonly pending: number;
  /** Handled events that are still stored. */
  readonly done: number;
  /** Dead letters, which wait for a decision. */
  readonly dead: number;
  /** Time when the oldest pending event was received. */
  readonly oldestPendingAt: number | undefined;
}

/** Numbers of lanes with pending events. */
export interface LaneReport {
  /** Lanes whose next event can start. */
  readonly ready: number;
  /** Lanes whose next event waits for its next attempt. */
  readonly waiting: number;
  /** Lanes with an event being handled. */
  readonly leased: number;
  /** Waiting lanes with further events behind the waiting one. */
  readonly blocked: number;
}

/** Size of an inbox, in bytes. */
export interface StorageReport {
  /** Size of the file, or of the schema's tables and indexes. */
  readonly bytes: number;
  /** Size of the WAL, commits not in the file yet; `undefined` with PostgreSQL. */
  readonly walBytes: number | undefined;
}

/** {@link InboxStats} in more detail. */
export interface InboxReport extends InboxStats {
  /** Discarded events that are still stored. */
  readonly discarded: number;
  /** Pending events by type. */
  readonly pendingByType: Readonly<Record<string, number>>;
  /** Dead letters by type. */
  readonly deadByType: Readonly<Record<string, number>>;
  /** Dead letters by name and code of the error, such as `ServiceBotError STEP_UNCERTAIN`; the 20 most frequent. */
  readonly deadByError: Readonly<Record<string, number>>;
  readonly lanes: LaneReport;
  readonly storage: StorageReport;
}

/** Gauges for monitoring, read every few seconds. Their cost does not grow with the number of ended events. */
export interface InboxMeasures {
  readonly pending: number;
  /** Time when the oldest pending event was received, in ms since 1970. */
  readonly oldestPendingAt: number | undefined;
  readonly dead: number;
  /** `undefined` if the inbox is not on a disk of this machine. */
  readonly disk: DiskMeasures | undefined;
}

/** Sizes in bytes. */
export interface DiskMeasures {
  readonly database: number;
  /** Commits not in the database file yet. */
  readonly wal: number;
  /** `undefined` if the file system does not report it. */
  readonly free: number | undefined;
  /** Free space below which new events are refused. */
  readonly minFree: number;
}

/**
 * Filter for events; every given field must match. Times are in ms since 1970, and apply to the arrival of pending
 * events and the end of others.
 */
export interface InboxFilter {
  /** Exact event type. */
  readonly type?: string | undefined;
  /**
   * Exact lane: `dm:<conversation>`, `post:<post>` or `user:<username>` unless the option `lane` names lanes
   * differently.
   */
  readonly lane?: string | undefined;
  /** Source of the first arrival. */
  readonly source?: Source | undefined;
  /** Part of the last error, case-sensitive. */
  readonly error?: string | undefined;
  /** Code of the last error, such as `STEP_UNCERTAIN`. */
  readonly code?: string | undefined;
  /** Earliest time, inclusive. */
  readonly since?: number | undefined;
  /** Latest time, exclusive. */
  readonly until?: number | undefined;
}

/** Filter and page size of a list. */
export interface InboxListOptions extends InboxFilter {
  /** Default: all states. */
  readonly state?: EventState | undefined;
  /** Events per page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the previous page, with the same filter. */
  readonly after?: string | undefined;
}

/** One page of a list. */
export interface InboxPage {
  /** Newest first. */
  readonly events: readonly EventSummary[];
  /** Cursor of the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/** A state, without its value. */
export interface StateSummary extends Omit<StoredState, "value"> {
  /** Size of the JSON in bytes. */
  readonly bytes: number;
}

/** Filter and page size of a list of states. */
export interface StateListOptions {
  /** Prefix of the keys. */
  readonly prefix?: string | undefined;
  /** States per page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

/** One page of states. */
export interface StatePage {
  /** Sorted by key. */
  readonly states: readonly StateSummary[];
  /** Cursor of the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/** Filter and page size of a list of timers. */
export interface TimerListOptions {
  /** Exact lane in which the timers were set. */
  readonly lane?: string | undefined;
  /** Exact name of the timers' handler. */
  readonly name?: string | undefined;
  /** Timers per page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

/** One page of timers. */
export interface TimerPage {
  /** Earliest due first. */
  readonly timers: readonly StoredTimer[];
  /** Cursor of the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/** A cron pattern of a running bot. */
export interface CronView {
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  readonly missed: "last" | "none";
  /** Next due moment in ms since 1970; `undefined` if the pattern never matches again. */
  readonly nextAt: number | undefined;
  /** Event of the last moment; `undefined` if the inbox does not contain it. */
  readonly last: Pick<EventSummary, "id" | "state" | "receivedAt"> | undefined;
}

/** Options of a retry. */
export interface InboxRetryOptions extends InboxDecisionOptions {
  /**
   * Fate of steps that began and have no result. `done`: the steps took effect, and the handler continues after them,
   * with `undefined` as their result. `absent`: the steps did not take effect, and run again. By default the handler
   * searches for the effect; if that fails, the event becomes a dead letter again.
   */
  readonly assume?: "done" | "absent" | undefined;
}

/** Progress of a decision about several events. */
export interface InboxProgress {
  /** Events processed so far. */
  readonly done: number;
  /** All events of the decision. */
  readonly of: number;
}

/** Options of a decision about several events. */
export interface InboxDecisionOptions {
  /** Stops the decision. Completed batches stay; `left` is the number of unprocessed events. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: InboxProgress) => void) | undefined;
}

/** Filter for dead letters to retry. */
export interface InboxRetryFilter extends InboxFilter {
  /** Maximum number of events, oldest first. Default: all. */
  readonly limit?: number | undefined;
}

/** Filter for events to discard. */
export interface InboxDiscardFilter extends InboxRetryFilter {
  /** Default: `dead`. */
  readonly state?: "dead" | "pending" | undefined;
}

/** Outcome of a decision about several events. */
export interface InboxChange {
  /** Events that the decision changed. */
  readonly changed: number;
  /** Events skipped because they are being handled, have ended in the meantime, or have no body. */
  readonly skipped: number;
  /** Events not processed because `signal` aborted. */
  readonly left?: number | undefined;
}

/**
 * Administration of the inbox, including decisions about events that cannot be handled. A decision by filter applies to
 * the events that match at the time of the call. It runs in small batches, between which deliveries continue. Every
 * method rejects with STORE_UNAVAILABLE if the store cannot answer.
 */
export interface InboxAdmin {
  /**
   * Lists events, newest first: pending events by arrival, the others by end, and a list of all states by these times.
   * An event that ends between two pages moves to the top and is on neither page.
   *
   * @throws {ServiceBotError} CURSOR_INVALID
   */
  list(options?: InboxListOptions): Promise<InboxPage>;

  /**
   * Returns an event with its content, failed runs and steps.
   *
   * @throws {ServiceBotError} EVENT_NOT_FOUND
   */
  show(id: string): Promise<EventDetails>;

  /**
   * Makes dead letters pending again and resets their attempts to 0. They run once their lane is free, with `ctx.late`
   * if later events of the lane were handled first.
   *
   * @param target an id, or a filter; `{}` is every dead letter
   * @throws {ServiceBotError} EVENT_NOT_FOUND, EVENT_NOT_DEAD, EVENT_BODY_DROPPED, for an id
   */
  retry(target: string | InboxRetryFilter, options?: InboxRetryOptions): Promise<InboxChange>;

  /**
   * Discards events for good. Their ids stay stored, so that the events never run even if delivered again.
   *
   * @param target an id, or a filter; `{}` is every dead letter
   * @param reason stored with the event, up to 500 characters
   * @throws {ServiceBotError} REASON_MISSING; EVENT_NOT_FOUND, EVENT_ENDED, EVENT_LEASED, for an id
   */
  discard(
    target: string | InboxDiscardFilter,
    reason: string,
    options?: InboxDecisionOptions,
  ): Promise<InboxChange>;

  /**
   * Returns the ids that a decision with this filter would process, in order. Changes nothing. The decision may skip
   * some of them.
   */
  targets(filter: InboxDiscardFilter): Promise<readonly string[]>;

  /** Counts events by state, dead letters by type and error, and lanes. */
  stats(): Promise<InboxReport>;

  /** Lists the states that handlers have written, without their values. */
  states(options?: StateListOptions): Promise<StatePage>;

  /** Returns the state of a key; `undefined` if there is none. */
  state(key: string): Promise<StoredState | undefined>;

  /**
   * Deletes a state. The next run that reads the state starts with its default. A run that has already read the state
   * is repeated.
   *
   * @returns false if there was none
   */
  deleteState(key: string): Promise<boolean>;

  /**
   * Lists the timers that have not become events yet.
   *
   * @throws {ServiceBotError} CURSOR_INVALID
   */
  timers(options?: TimerListOptions): Promise<TimerPage>;

  /**
   * Makes one timer, or all timers of a lane and name, due now. The bot fires each once as usual: at once in its own
   * process, and within 15 s if another process made the call.
   *
   * @returns the number of timers
   */
  makeTimersDue(name: TimerName): Promise<number>;
}

/** Administration of an inbox from another process than the bot's. */
export interface AttachedInbox {
  readonly admin: InboxAdmin;
  /** Returns whether a bot has the inbox open. */
  served(): Promise<boolean>;
  /** Returns the bot's instances; `undefined` if only one process can use the inbox. */
  readonly together?: (() => Promise<SharedReport>) | undefined;
  close(): Promise<void>;
}

/** State of an inbox location before a bot uses it. */
export interface InboxProbe {
  /** False if the bot will create the inbox at its first start. */
  readonly exists: boolean;
  /** True if a bot has the inbox open. */
  readonly served: boolean;
}

/** Health of a store. Checking changes nothing. */
export type StoreHealth = FileHealth | ServerHealth;

/** A disk that does not survive a restart of the machine (tmpfs) or a new container (overlay). */
export type EphemeralDisk = "memory" | "container";

export interface FileHealth {
  readonly kind: "file";
  /** Permissions of the file, as in `stat`. */
  readonly mode: number;
  /** `undefined` if the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** Free space below which new events are refused. */
  readonly minFreeBytes: number;
  readonly bytes: number;
  readonly walBytes: number;
  /** Name of the network file system, if any. */
  readonly network: string | undefined;
  /** Damage reported by SQLite; `undefined` if the file is too large to check. */
  readonly damage: readonly string[] | undefined;
}

export interface ServerHealth {
  readonly kind: "server";
  readonly version: string;
  /** Long-open transactions, which keep the server from removing newer dead rows. */
  readonly longOpen: readonly {
    readonly pid: number;
    readonly application: string;
    readonly state: string;
    readonly seconds: number;
  }[];
}
