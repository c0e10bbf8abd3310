import type { Client } from "../client/client.ts";
import type { LogPurpose } from "../client/request.ts";
import type { EventPage } from "../client/resources.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { newTrace } from "../core/trace.ts";
import { hasCode, ServiceBotError } from "../errors.ts";
import type { LaneOf } from "../events/lane.ts";
import { EVENT_LOG, type Inbox, type NewEvent, type PutResult } from "../inbox/inbox.ts";
import { batchMessage, readBatch } from "../inbox/read-batch.ts";
import { channels, traced, works } from "../observe/channels.ts";
import { EventDates } from "./event-dates.ts";
import type { FoundEvent } from "./mode.ts";
import { type DatedPage, PageGroup } from "./page-group.ts";
import { mayRefusePosition, RefusedPosition } from "./refused-position.ts";

export interface LogReaderOptions {
  readonly inbox: Pick<Inbox, "put" | "cursor">;
  readonly client: Pick<Client, "events">;
  readonly laneOf: LaneOf;
  readonly log: Logger;
  /** Position at which the first start begins, when there is no cursor yet: the present or the oldest event. */
  readonly startFrom: "now" | "oldest";
  /** Result of the first start. This process's next reader shares it. */
  readonly firstStart?: FirstStart | undefined;
  /** The platform's clock, in ms since 1970. */
  readonly platformClock: Pick<Clock, "now">;
  /** Clock used to wait for another page that can share the transaction. Default `systemClock`. */
  readonly clock?: Clock | undefined;
  /** Term during which the cursor may move, if several instances share the inbox. */
  readonly term?: number | undefined;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

export interface FirstStart {
  /**
   * The end of the log on the first start. It is kept because, after a failed write, a new request would skip the
   * events created in the meantime.
   */
  present?: string;
}

export const CURSOR: string = EVENT_LOG;

const PAGE_LIMIT = 50;

/** Time in ms during which arriving pages share a transaction. Their events are already late. */
const GROUP_WAIT_MS = 100;

/** Maximum number of consecutive empty pages. Pages may be empty because the platform filters events by scope. */
const MAX_EMPTY_PAGES = 100;

/**
 * Distance by which the stored cursor trails the present, in ms. The platform may commit events out of order, so audits
 * read the recent part of the log again.
 */
const SETTLED_AFTER_MS = 60_000;

interface FirstPage {
  /** Position before the page. `undefined` for the oldest event. */
  readonly since: string | undefined;
  readonly page: EventPage;
}

interface ReadPage {
  readonly page: EventPage;
  /** Position after the page. */
  readonly next: string | undefined;
  /** The following page. `undefined` for the last page. */
  readonly following: Promise<EventPage> | undefined;
}

/**
 * Reads the event log (`GET /events`, section 4 of the platform document) into the inbox.
 *
 * The reader has two positions. The *cursor* is stored in one transaction with the events before it. It never passes an
 * event that is not in the inbox, and it trails the present by a minute. The *head* is the position up to which this
 * process has read. The platform returned both positions. The reader never computes a position.
 */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #purpose: () => LogPurpose;
  #cursor: string | undefined;
  #head: string | undefined;
  /** Time when each position was first seen in the last read from the cursor, on the platform's clock. */
  #seenAt = new Map<string, number>();
  readonly #dates = new EventDates();
  #resumed = false;
  #atEnd = false;
  readonly #refused = new RefusedPosition();

  /** @param purpose returns the purpose of the next request */
  constructor(options: LogReaderOptions, purpose: () => LogPurpose = () => "audit") {
    this.#options = options;
    this.#purpose = purpose;
  }

  /**
   * Stored position. `undefined` until a position is stored, while the log is empty, and while the platform refuses the
   * position.
   */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** True if the last read reached the end of the log, and false if it gave up on empty pages. */
  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Finds the start position. Resolves to true if reading continues from a stored cursor. */
  async open(signal: AbortSignal): Promise<boolean> {
    const { inbox, client, startFrom, firstStart = {} } = this.#options;
    let position = await inbox.cursor(CURSOR);
    this.#resumed = position !== undefined;
    if (!this.#resumed && startFrom === "now") {
      const purpose = this.#purpose();
      firstStart.present ??= (await client.events({ since: "" }, { signal, purpose })).cursor;
      position = firstStart.present;
      await this.#put([], position);
    }
    // An empty log returns the cursor it was sent, here an empty one (rule 3 in section 4 of the platform document).
    // The end of an empty log is also its beginning. Sending the empty cursor again would skip the events created in
    // the meantime.
    this.#cursor = position === "" ? undefined : position;
    this.#head = this.#cursor;
    return this.#resumed;
  }

  /**
   * Reads to the end of the log, from the cursor or, if no audit is due, from the head. Resolves to the events that
   * were not in the inbox.
   *
   * @param found collects these events page by page, even if a later page fails
   */
  async read(
    from: "cursor" | "head",
    signal: AbortSignal,
    found: FoundEvent[] = [],
  ): Promise<readonly FoundEvent[]> {
    const first = await this.#begin(from, signal);
    // A read from the head skips the unsettled part of the log, so it cannot move the cursor.
    let isSettled = from === "cursor" || first.since === undefined;
    const seenAt = new Map<string, number>();
    let head = first.since;
    let group = this.#newGroup();
    for await (const { page, next, following } of this.#pages(first, signal)) {
      const dated = this.#date(page);
      isSettled &&= next !== undefined && this.#isSettled(dated, next, group.reached, seenAt);
      group.add(dated, isSettled ? next : undefined);
      head = next;
      // Store the first page at once, because most reads have only one page.
      const mayGrow = page !== first.page && following !== undefined && !group.isFull;
      if (mayGrow && (await this.#arrivesBefore(following, group.until))) continue;
      for (const event of await this.#store(group)) found.push(event);
      group = this.#newGroup();
    }
    if (this.#atEnd) this.#refused.logLeftOut(this.#options.log);
    this.#head = head;
    if (from === "cursor") {
      this.#seenAt = seenAt;
      this.#dates.forgetPassed();
    }
    return found;
  }

  /** Yields pages up to the end of the log. Fetches each following page while the caller stores the last. */
  async *#pages(first: FirstPage, signal: AbortSignal): AsyncGenerator<ReadPage> {
    let { since } = first;
    let empty = 0;
    for (let fetching: Promise<EventPage> | undefined = Promise.resolve(first.page); fetching; ) {
      const page: EventPage = await fetching;
      // Never send an empty cursor, because it means "the present".
      const next = page.cursor === "" ? since : page.cursor;
      empty = page.events.length === 0 ? empty + 1 : 0;
      this.#atEnd = next === since;
      const isLast = this.#atEnd || empty > MAX_EMPTY_PAGES;
      fetching = isLast ? undefined : this.#fetch(next, signal);
      // If storing fails, the following page is never awaited.
      fetching?.catch(() => undefined);
      yield { page, next, following: fetching };
      since = next;
    }
  }

  /**
   * Fetches the first page. If the platform refuses the position because its log was trimmed, reading restarts at the
   * oldest event.
   */
  async #begin(from: "cursor" | "head", signal: AbortSignal): Promise<FirstPage> {
    const since = from === "cursor" ? this.#cursor : this.#head;
    try {
      return { since, page: await this.#fetch(since, signal) };
    } catch (error) {
      if (since === undefined || !mayRefusePosition(error)) throw error;
      // If the platform refuses this request too, the position was not the cause.
      const page = await this.#fetch(undefined, signal);
      this.#options.log.warn(
        { err: error, cursor: since },
        "the saved position is no longer in the event log; reading from the oldest event",
      );
      this.#refused.refuse(this.#cursor);
      this.#cursor = undefined;
      return { since: undefined, page };
    }
  }

  /** Fetches a page. If the page is too large or too complex, its first event alone may be readable. */
  async #fetch(since: string | undefined, signal: AbortSignal): Promise<EventPage> {
    const { client } = this.#options;
    const fetch = (limit: number) =>
      client.events({ since, limit }, { signal, purpose: this.#purpose() });
    try {
      return await fetch(PAGE_LIMIT);
    } catch (error) {
      if (!hasCode(error, "API_INVALID_RESPONSE")) throw error;
      return await fetch(1);
    }
  }

  #newGroup(): PageGroup {
    const { clock = systemClock } = this.#options;
    return new PageGroup(this.#cursor, clock.now() + GROUP_WAIT_MS);
  }

  /** Resolves to true if a page arrives before a time, and to false if it is late or fails. */
  #arrivesBefore(page: Promise<EventPage>, until: number): Promise<boolean> {
    const { clock = systemClock } = this.#options;
    return new Promise((resolve) => {
      const cancel = clock.timer(until - clock.now(), () => resolve(false));
      const settle = (arrived: boolean) => {
        cancel();
        resolve(arrived);
      };
      page.then(
        () => settle(true),
        () => settle(false),
      );
    });
  }

  #date(page: EventPage): DatedPage {
    const now = page.date ?? this.#options.platformClock.now();
    return { events: page.events, now, dates: this.#dates.of(page, now) };
  }

  /**
   * Returns whether the platform can no longer commit events before the position after a page.
   *
   * @param reached start of the page, if it is settled
   */
  #isSettled(
    { dates, now }: DatedPage,
    position: string,
    reached: string | undefined,
    seenAt: Map<string, number>,
  ): boolean {
    if (dates.some(([, at]) => now - at < SETTLED_AFTER_MS)) return false;
    if (position === reached || position === dates.at(-1)?.[0]) return true;
    // There may be events between the last event and the position that the token cannot read, and their age is unknown.
    const first = this.#seenAt.get(position) ?? now;
    seenAt.set(position, first);
    return now - first > SETTLED_AFTER_MS;
  }

  async #store(group: PageGroup): Promise<readonly FoundEvent[]> {
    const { laneOf, log } = this.#options;
    const { reached } = group;
    const isDone = reached !== undefined && this.#refused.covers(reached);
    const isNew = reached !== this.#cursor && !isDone;
    const batch = readBatch(group.events, laneOf).filter(
      ({ id, unusable }) => unusable !== undefined || !this.#refused.leavesOut(id),
    );
    if (batch.length === 0 && !isNew) {
      // Do not store the position. A restart needs the refused position, because all events up to it are done.
      this.#cursor = reached;
      return [];
    }
    const { stored } = await this.#put(batch, isNew ? reached : undefined);
    this.#cursor = reached;
    if (isNew) this.#refused.replace(log);
    const types = new Map(batch.map(({ id, type }) => [id, type]));
    return stored.map((id) => ({ id, type: types.get(id) ?? "", at: group.dateOf(id) }));
  }

  /**
   * Stores pages under one trace, like a delivery. Most pages contain no new events, and are neither logged nor traced.
   *
   * @throws {ServiceBotError} LEASE_LOST if another instance now reads the log. The events are stored.
   */
  async #put(batch: readonly NewEvent[], position: string | undefined): Promise<PutResult> {
    const { inbox, term, bot } = this.#options;
    const moves = position === undefined ? [] : [{ name: CURSOR, position, term }];
    const result = await traced(
      works.page,
      () => ({ bot }),
      async (work) => {
        const trace = work?.trace ?? newTrace();
        const put = await inbox.put(batch, "poll", moves, trace);
        const message = batchMessage(bot, "poll", batch, put, trace);
        if (work !== undefined) work.batch = message;
        channels.batch.publish(message);
        return put;
      },
    );
    if (result.termOver !== true) return result;
    throw new ServiceBotError("LEASE_LOST", "Another instance now reads the event log.");
  }
}
