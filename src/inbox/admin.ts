import type { StoredState, StoredTimer, TimerName } from "./effects.ts";
import type { EventDetails, EventState, EventSummary, Source } from "./event-records.ts";

/**
 * Administration of the inbox: decisions about events, and reports for commands that run alongside a bot. All times are
 * in ms since 1970.
 */

/** Event counts by state. */
export interface InboxStats {
  /** Events not yet handled, including events waiting for a retry. */
  readonly pending: number;
  /** Handled events that are still stored. */
  readonly done: number;
  /** Dead letters waiting for a decision. */
  readonly dead: number;
  /** Time when the oldest pending event was received, in ms since 1970. `undefined` if none is pending. */
  readonly oldestPendingAt: number | undefined;
}

/** Counts of the lanes with pending events. */
export interface LaneReport {
  /** Lanes whose next event can start. */
  readonly ready: number;
  /** Lanes whose next event is waiting for a retry. */
  readonly waiting: number;
  /** Lanes in which a handler is running. */
  readonly leased: number;
  /** Waiting lanes with more events queued behind the waiting one. */
  readonly blocked: number;
}

/** Size of an inbox, in bytes. */
export interface StorageReport {
  /** Size of the file, or of the tables and indexes in the schema. */
  readonly bytes: number;
  /** Size of the WAL, which contains commits that are not in the file yet. `undefined` with PostgreSQL. */
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
  /** Dead letters by error name and code, such as `ServiceBotError STEP_UNCERTAIN`; the 20 most frequent. */
  readonly deadByError: Readonly<Record<string, number>>;
  /** Lanes with pending events. */
  readonly lanes: LaneReport;
  /** Space that the inbox uses. */
  readonly storage: StorageReport;
}

/** Gauges that monitoring reads every few seconds. A read costs the same however many ended events are stored. */
export interface InboxMeasures {
  readonly pending: number;
  /** Time when the oldest pending event was received, in ms since 1970. `undefined` if none is pending. */
  readonly oldestPendingAt: number | undefined;
  readonly dead: number;
  /** `undefined` if the inbox is not on a disk of this machine. */
  readonly disk: DiskMeasures | undefined;
}

/** Sizes in bytes. */
export interface DiskMeasures {
  readonly database: number;
  /** Size of the WAL, which contains commits that are not in the database file yet. */
  readonly wal: number;
  /** `undefined` if the file system does not report it. */
  readonly free: number | undefined;
  /** Free space below which new events are refused. */
  readonly minFree: number;
}

/**
 * Filter for events. Every field that is set must match. Times are in ms since 1970. `since` and `until` apply to the
 * arrival of a pending event, and to the end of any other event.
 */
export interface InboxFilter {
  /** Exact event type. */
  readonly type?: string | undefined;
  /**
   * Exact lane: `dm:<conversation>`, `post:<post>` or `user:<username>` unless the `lane` option names lanes
   * differently.
   */
  readonly lane?: string | undefined;
  /** Source from which the event first arrived. */
  readonly source?: Source | undefined;
  /** Substring of the last error, case-sensitive. */
  readonly error?: string | undefined;
  /** Code of the last error, such as `STEP_UNCERTAIN`. */
  readonly code?: string | undefined;
  /** Earliest time, inclusive. */
  readonly since?: number | undefined;
  /** Latest time, exclusive. */
  readonly until?: number | undefined;
  /** Earliest time of arrival, inclusive. */
  readonly receivedSince?: number | undefined;
  /** Latest time of arrival, exclusive. */
  readonly receivedUntil?: number | undefined;
  /**
   * Username, with or without @, or user id of the account that caused the event, or that set a timer. An event without
   * its content never matches. No index contains users, so `list` examines at most 100,000 events per page.
   */
  readonly user?: string | undefined;
}

/** Size and beginning of a page. */
export interface PageOptions {
  /** Entries per page, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** The previous page's `next`, used with the same filter. */
  readonly after?: string | undefined;
}

/** A page of a list. */
interface Page {
  /** Cursor of the next page. `undefined` on the last page. */
  readonly next: string | undefined;
}

/** Filter and page size for a list. */
export interface InboxListOptions extends InboxFilter, PageOptions {
  /** Default: all states. */
  readonly state?: EventState | undefined;
}

/** One page of a list of events. */
export interface InboxPage extends Page {
  /** Newest first. A page may have fewer events than `limit`, or none, if the filter has a `user`. */
  readonly events: readonly EventSummary[];
}

/** A state, without its value. */
export interface StateSummary extends Omit<StoredState, "value"> {
  /** Size of the JSON in bytes. */
  readonly bytes: number;
}

/** Filter and page size for a list of states. */
export interface StateListOptions extends PageOptions {
  /** Prefix that the keys start with. */
  readonly prefix?: string | undefined;
}

/** One page of states. */
export interface StatePage extends Page {
  /** Sorted by key. */
  readonly states: readonly StateSummary[];
}

/** Filter and page size for a list of timers. */
export interface TimerListOptions extends PageOptions {
  /** Exact lane that the timers were set in. */
  readonly lane?: string | undefined;
  /** Exact name of the timers' handler. */
  readonly name?: string | undefined;
}

/** One page of timers. */
export interface TimerPage extends Page {
  /** Earliest due first. */
  readonly timers: readonly StoredTimer[];
}

/** A cron job of a running bot. */
export interface CronView {
  readonly name: string;
  readonly pattern: string;
  readonly timeZone: string;
  readonly missed: "last" | "none";
  /** Next tick, in ms since 1970. `undefined` if the pattern never matches again. */
  readonly nextAt: number | undefined;
  /** Event of the last tick. `undefined` if the inbox does not contain it. */
  readonly last: Pick<EventSummary, "id" | "state" | "receivedAt"> | undefined;
}

export interface InboxRetryOptions extends InboxDecisionOptions {
  /**
   * How to treat steps that began but have no result. `done`: they took effect. The handler skips them, and their
   * result is `undefined`. `absent`: they did not take effect and run again. By default, the handler searches for the
   * effect. If the search fails, the event becomes a dead letter again.
   */
  readonly assume?: "done" | "absent" | undefined;
}

/** Progress of a decision about several events. */
export interface InboxProgress {
  /** Number of events processed so far. */
  readonly done: number;
  /** Number of events that the decision covers. */
  readonly of: number;
}

export interface InboxDecisionOptions {
  /**
   * Stops the decision between two batches. Completed batches stay changed, and `left` counts the unprocessed events.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: InboxProgress) => void) | undefined;
}

/** Filter for events to retry or discard. */
export interface InboxDecisionFilter extends InboxFilter {
  /** Default: `dead`. */
  readonly state?: "dead" | "pending" | undefined;
  /** Maximum number of events, oldest first. Default: all. */
  readonly limit?: number | undefined;
}

/** Outcome of a decision about several events. */
export interface InboxChange {
  /** Number of events that the decision changed. */
  readonly changed: number;
  /**
   * Number of events skipped because a handler is running, the event ended in the meantime, or its body was deleted.
   */
  readonly skipped: number;
  /** Number of events not processed because `signal` aborted. */
  readonly left?: number | undefined;
}

/**
 * Administration of the inbox, including decisions about events that cannot be handled. A decision by filter applies to
 * the events that match at the time of the call. It runs in small batches, so deliveries continue in between. Every
 * method rejects with STORE_UNAVAILABLE if the store does not respond, and with INVALID_OPTION if an argument has the
 * wrong type or an unknown field.
 */
export interface InboxAdmin {
  /**
   * Lists events, newest first. Pending events are sorted by arrival, and other events by when they ended. An event
   * that ends while the caller is paging moves to the top, so later pages may lack it.
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
   * Makes dead letters pending again and resets their attempts to 0. They run once their lane is free. `ctx.late` is
   * true if later events in the lane were handled first.
   *
   * A pending event keeps its attempts, but its lane no longer waits: the lane's first event runs now. If the handler's
   * requests are still held back, or the loop guard still holds the event back, the event waits again.
   *
   * @param target an id, or a filter; `{}` matches every dead letter, and `{ state: "pending" }` every pending event
   * @throws {ServiceBotError} EVENT_NOT_FOUND, EVENT_NOT_DEAD, EVENT_BODY_DROPPED, EVENT_LEASED, if the target is an id
   */
  retry(target: string | InboxDecisionFilter, options?: InboxRetryOptions): Promise<InboxChange>;

  /**
   * Discards events for good. Their ids stay stored, so the events never run even if they are delivered again.
   *
   * @param target an id, or a filter; `{}` matches every dead letter
   * @param reason stored with the event, up to 500 characters
   * @throws {ServiceBotError} REASON_MISSING; EVENT_NOT_FOUND, EVENT_ENDED, EVENT_LEASED, if the target is an id
   */
  discard(
    target: string | InboxDecisionFilter,
    reason: string,
    options?: InboxDecisionOptions,
  ): Promise<InboxChange>;

  /**
   * Returns the ids that a decision with this filter would process, in order. Changes nothing. The decision may skip
   * some of them.
   */
  targets(filter: InboxDecisionFilter): Promise<readonly string[]>;

  /** Counts events by state, dead letters by type and error, and lanes. */
  stats(): Promise<InboxReport>;

  /** Lists the states that handlers have written, without their values. */
  states(options?: StateListOptions): Promise<StatePage>;

  /** Returns the state stored under a key, or `undefined` if there is none. */
  state(key: string): Promise<StoredState | undefined>;

  /**
   * Deletes a state. The next run that reads the state starts with the default value. A run that has already read it
   * runs again.
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
   * Makes one timer, or all timers with a lane and name, due now. Each timer fires once, as usual. It fires at once if
   * the call is made in the bot's process, and within 15 s otherwise.
   *
   * @returns the number of timers
   */
  makeTimersDue(name: TimerName): Promise<number>;
}
