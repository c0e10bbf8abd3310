import type { Dated } from "./event-dates.ts";

/**
 * Maximum number of events per transaction. Larger groups take as long per row, but block the event loop for longer.
 */
const MAX_GROUP_EVENTS = 500;

/** A page with the time of its response and the times of its events, in ms since 1970 on the platform's clock. */
export interface DatedPage {
  readonly events: readonly unknown[];
  readonly now: number;
  /** Times of the events, in the same order. */
  readonly dates: readonly Dated[];
}

/** Consecutive pages to store in one transaction. */
export class PageGroup {
  readonly events: unknown[] = [];
  /** Time until which the group waits for more pages, in ms since 1970. */
  readonly until: number;
  readonly #dates = new Map<string, number>();
  #reached: string | undefined;
  #now = 0;

  /** @param reached position up to which all events are settled and stored */
  constructor(reached: string | undefined, until: number) {
    this.#reached = reached;
    this.until = until;
  }

  /** Position up to which all events are settled once this group is stored. */
  get reached(): string | undefined {
    return this.#reached;
  }

  get isFull(): boolean {
    return this.events.length >= MAX_GROUP_EVENTS;
  }

  /** @param reached the position after the page, if all events before it are settled */
  add({ events, now, dates }: DatedPage, reached: string | undefined): void {
    for (const event of events) this.events.push(event);
    for (const [id, at] of dates) this.#dates.set(id, at);
    this.#reached = reached ?? this.#reached;
    this.#now = now;
  }

  /**
   * Returns an event's creation time, in ms since 1970 on the platform's clock. Falls back to the page's time if the
   * event has no id.
   */
  dateOf(id: string): number {
    return this.#dates.get(id) ?? this.#now;
  }
}
