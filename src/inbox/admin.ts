import type { EventDetails, EventState, EventSummary, InboxReport } from "./records.ts";

/** Which events are meant: those that fit every field that is set. */
export interface InboxFilter {
  /** An event type, exactly. */
  readonly type?: string | undefined;
  /** A lane, exactly: `dm:<conversation>`, `post:<post>`, `user:<username>` unless the option `lane` names them otherwise. */
  readonly lane?: string | undefined;
}

/** Which events are listed, and how many at once. */
export interface InboxListOptions extends InboxFilter {
  /** All states by default. */
  readonly state?: EventState | undefined;
  /** How many at most, 1 to 1,000. Default 50. */
  readonly limit?: number | undefined;
  /** Where to go on: `next` of the page before, with the same filter. */
  readonly after?: string | undefined;
}

/** One page of a list. */
export interface InboxPage {
  /** The newest first. */
  readonly events: readonly EventSummary[];
  /** Set when there are more. */
  readonly next: string | undefined;
}

/** What is known beyond the inbox when dead letters are retried. */
export interface InboxRetryOptions {
  /**
   * What is known of steps that began and have no result. `done`: they took effect, and the handler goes on
   * after them, with `undefined` for their result. `absent`: they did not, and run again. By default the
   * handler finds out by itself, and the event is parked again where it cannot.
   */
  readonly assume?: "done" | "absent" | undefined;
}

/** Which events are to end. */
export interface InboxDiscardFilter extends InboxFilter {
  /** Default `dead`. */
  readonly state?: "dead" | "pending" | undefined;
}

/** What a decision about several events has changed. */
export interface InboxChange {
  /** How many events the decision took effect on. */
  readonly changed: number;
  /** Passed over: being handled at that moment, ended otherwise meanwhile, or without a body. */
  readonly skipped: number;
}

/**
 * The inbox as people see it: what is in it, and what becomes of the events that cannot be handled.
 * Decisions by filter are about the events that fit when the call is made, and are carried out in small
 * batches, so that deliveries go on meanwhile. Every method rejects with STORE_UNAVAILABLE when the store
 * cannot do it now.
 */
export interface InboxAdmin {
  /**
   * Dead, discarded and done events come in the order in which they ended, pending ones in the order in which they
   * were received, and all together by these times; the newest first. What ends between two pages is on neither, but
   * at the top.
   *
   * @throws {ServiceBotError} CURSOR_INVALID
   */
  list(options?: InboxListOptions): Promise<InboxPage>;

  /**
   * An event with its content, the runs that did not end well, and its steps.
   *
   * @throws {ServiceBotError} EVENT_NOT_FOUND
   */
  show(id: string): Promise<EventDetails>;

  /**
   * Makes dead letters pending again, with their attempts back at 0. They run as soon as their lane is
   * free, with `ctx.late` where later events of the lane were handled meanwhile.
   *
   * @param target an id, or a filter; `{}` is every dead letter
   * @throws {ServiceBotError} EVENT_NOT_FOUND, EVENT_NOT_DEAD, EVENT_BODY_DROPPED, for an id
   */
  retry(target: string | InboxFilter, options?: InboxRetryOptions): Promise<InboxChange>;

  /**
   * Ends events for good. Their ids stay known, so that they never run, however often they are delivered.
   *
   * @param target an id, or a filter; `{}` is every dead letter
   * @param reason kept with the event; at most 500 characters of it
   * @throws {ServiceBotError} REASON_MISSING; EVENT_NOT_FOUND, EVENT_ENDED, EVENT_LEASED, for an id
   */
  discard(target: string | InboxDiscardFilter, reason: string): Promise<InboxChange>;

  /** How many events there are in each state, dead letters by type, and when the oldest pending one came. */
  stats(): Promise<InboxReport>;
}
