import type { EventDetails, EventState, EventSummary, InboxReport, Source } from "./records.ts";

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
}
