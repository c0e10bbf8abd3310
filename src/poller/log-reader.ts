import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import type { LogPurpose } from "../client/request.ts";
import type { EventPage } from "../client/resources.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { newTrace } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import { idFamily, idText, orderKey } from "../events/id.ts";
import type { LaneOf } from "../events/lane.ts";
import { textOf } from "../events/parse.ts";
import { EVENT_LOG, type Inbox, type NewEvent, type PutResult } from "../inbox/inbox.ts";
import { batchMessage, readBatch } from "../inbox/read-batch.ts";
import { channels, traced, works } from "../observe/channels.ts";
import type { FoundEvent } from "./mode.ts";

export interface LogReaderOptions {
  readonly inbox: Pick<Inbox, "put" | "cursor">;
  readonly client: Pick<Client, "events">;
  readonly laneOf: LaneOf;
  readonly log: Logger;
  /** Beginning of a first start without a cursor: the present or the oldest event. */
  readonly startFrom: "now" | "oldest";
  /** Result of a first start, kept for the next reader of this process. */
  readonly firstStart?: FirstStart | undefined;
  /** The platform's clock, in milliseconds since 1970. */
  readonly platformClock: Pick<Clock, "now">;
  /** Times the wait for a page that shares a transaction. Default `systemClock`. */
  readonly clock?: Clock | undefined;
  /** The term in which the cursor is moved, where several instances share the inbox. */
  readonly term?: number | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

export interface FirstStart {
  /** The end of the log. Asked for again after a store that failed, it would pass over events that came meanwhile. */
  present?: string;
}

/** Name of the stored cursor. */
export const CURSOR: string = EVENT_LOG;

const PAGE_LIMIT = 50;

/** Events that share a transaction. Beyond this many, a row costs as much as before, and the event loop waits longer. */
const MAX_GROUP_EVENTS = 500;

/** In ms. Pages that arrive within this time after a transaction share the next one. Their events are late already. */
const GROUP_WAIT_MS = 100;

/** Empty pages in a row that are followed, because pages may be filtered by scope. */
const MAX_EMPTY_PAGES = 100;

/**
 * In ms. The platform may commit events out of the order of their ids, so the stored cursor stays behind younger events,
 * and audits read that part again.
 */
const SETTLED_AFTER_MS = 60_000;

/**
 * Reads the event log (`GET /events`, section 4 of the platform document) into the inbox.
 *
 * Two positions: the *cursor* is stored with the events that lead up to it, never passes an event that
 * is not in the inbox, and trails the present by a minute; the *head* is how far this process has read.
 * Both are what the platform returned, never computed.
 */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #purpose: () => LogPurpose;
  #cursor: string | undefined;
  #head: string | undefined;
  /** When each position of the last read from the cursor was first seen, on the platform's clock. */
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

  /** The stored position; undefined before there is one, while the log is empty, and while it is refused. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Whether the last read came to the end of the log, rather than gave up on pages without events. */
  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Finds the position to begin at. Returns true if it continues from a stored cursor. */
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
    // An empty log answers with the cursor that was sent, which is empty (rule 3). The present is then
    // its beginning; sent back as it is, it would pass over whatever was made meanwhile.
    this.#cursor = position === "" ? undefined : position;
    this.#head = this.#cursor;
    return this.#resumed;
  }

  /**
   * Reads to the end of the log: from the cursor, or from the head if no audit is due. Resolves to the events that were not
   * in the inbox.
   *
   * @param found collects these events page by page, also before a page that fails
   */
  async read(
    from: "cursor" | "head",
    signal: AbortSignal,
    found: FoundEvent[] = [],
  ): Promise<readonly FoundEvent[]> {
    const first = await this.#begin(from, signal);
    let { since } = first;
    let fetching = Promise.resolve(first.page);
    let empty = 0;
    // A read from the head skips the unsettled part, so it cannot move the cursor.
    let settled = from === "cursor" || since === undefined;
    const seenAt = new Map<string, number>();
    let group = this.#newGroup();
    for (let isFirst = true; ; isFirst = false) {
      const page = await fetching;
      // An empty cursor would mean "the present" when it is sent back, so it is never followed.
      const next = page.cursor === "" ? since : page.cursor;
      empty = page.events.length === 0 ? empty + 1 : 0;
      this.#atEnd = next === since;
      const isLast = this.#atEnd || empty > MAX_EMPTY_PAGES;
      // The next page is on its way while this one is stored.
      if (!isLast) fetching = this.#fetch(next, signal);
      // If storing fails, that page is no longer awaited.
      fetching.catch(() => undefined);
      const dated = this.#date(page);
      settled &&= next !== undefined && this.#isSettled(dated, next, group.reached, seenAt);
      group.add(dated, settled ? next : undefined);
      since = next;
      // The first page is not held up, because most reads bring no more than that.
      if (
        isFirst ||
        isLast ||
        group.isFull ||
        !(await this.#arrivesBefore(fetching, group.until))
      ) {
        found.push(...(await this.#store(group)));
        group = this.#newGroup();
      }
      if (isLast) break;
    }
    if (this.#atEnd) this.#refused.logLeftOut(this.#options.log);
    this.#head = since;
    if (from === "cursor") {
      this.#seenAt = seenAt;
      this.#dates.forgetPassed();
    }
    return found;
  }

  /**
   * Fetches the first page. If the platform refuses a position that its log was trimmed past, reading begins again with the
   * oldest event.
   */
  async #begin(
    from: "cursor" | "head",
    signal: AbortSignal,
  ): Promise<{ readonly since: string | undefined; readonly page: EventPage }> {
    const since = from === "cursor" ? this.#cursor : this.#head;
    try {
      return { since, page: await this.#fetch(since, signal) };
    } catch (error) {
      if (since === undefined || !mayRefusePosition(error)) throw error;
      // If this is refused as well, the position was not the reason.
      const page = await this.#fetch(undefined, signal);
      this.#options.log.warn(
        { err: error, cursor: since },
        "the saved position has left the event log; reading from the oldest event",
      );
      this.#refused.refuse(this.#cursor);
      this.#cursor = undefined;
      return { since: undefined, page };
    }
  }

  #fetch(since: string | undefined, signal: AbortSignal): Promise<EventPage> {
    const { client } = this.#options;
    return client.events({ since, limit: PAGE_LIMIT }, { signal, purpose: this.#purpose() });
  }

  #newGroup(): PageGroup {
    const { clock = systemClock } = this.#options;
    return new PageGroup(this.#cursor, clock.now() + GROUP_WAIT_MS);
  }

  /** Returns whether a page arrives before that time. False if it fails. */
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
   * Returns whether no event can still commit before the position behind a page.
   *
   * @param reached where the page began, if that is settled
   */
  #isSettled(
    { dates, now }: DatedPage,
    position: string,
    reached: string | undefined,
    seenAt: Map<string, number>,
  ): boolean {
    if (dates.some(([, at]) => now - at < SETTLED_AFTER_MS)) return false;
    if (position === reached || position === dates.at(-1)?.[0]) return true;
    // The position may be ahead of the last event, by events that the token cannot read and whose age is unknown.
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
      // Not stored, because a restart must know the refused position, up to which everything is done.
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
   * Stores pages. They are one trace, as a delivery is. Most have nothing new, and are neither logged nor traced.
   *
   * @throws {ServiceBotError} LEASE_LOST when another instance reads the log by now; the events are stored
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

/** A page, and when it was answered and its events were made, in ms since 1970 on the platform's clock. */
interface DatedPage {
  readonly events: readonly unknown[];
  readonly now: number;
  /** In the order of the events. */
  readonly dates: readonly Dated[];
}

/** Pages that follow each other and are stored in one transaction. */
class PageGroup {
  readonly events: unknown[] = [];
  /** Time until which the pages wait for more of them, in ms since 1970. */
  readonly until: number;
  readonly #dates = new Map<string, number>();
  #reached: string | undefined;
  #now = 0;

  /** @param reached the position up to which everything is settled and stored */
  constructor(reached: string | undefined, until: number) {
    this.#reached = reached;
    this.until = until;
  }

  /** The position up to which everything will be settled and stored with these pages. */
  get reached(): string | undefined {
    return this.#reached;
  }

  get isFull(): boolean {
    return this.events.length >= MAX_GROUP_EVENTS;
  }

  /** @param reached the position behind the page, if everything up to it is settled */
  add({ events, now, dates }: DatedPage, reached: string | undefined): void {
    for (const event of events) this.events.push(event);
    for (const [id, at] of dates) this.#dates.set(id, at);
    this.#reached = reached ?? this.#reached;
    this.#now = now;
  }

  /** When an event was made, in ms since 1970 on the platform's clock. The time of the page if it has no id. */
  dateOf(id: string): number {
    return this.#dates.get(id) ?? this.#now;
  }
}

/**
 * Statuses that may mean that a position is no longer in the log. How long the log keeps events, and how an older position is
 * answered, is not shown (section 6 of the platform document).
 */
const statuses: ReadonlySet<number> = new Set([400, 404, 410, 416, 422]);

/** Returns whether a read of the log may have been refused because of the position it began at. */
function mayRefusePosition(error: unknown): error is ApiError {
  return error instanceof ApiError && statuses.has(error.status);
}

/**
 * The stored position while the platform refuses it, until there is a new one. Reading then begins again with the
 * oldest event. A trimmed log has no event up to that position; a platform that refused it by mistake has all of
 * them, which are done, and which the inbox may have forgotten by now.
 */
class RefusedPosition {
  #cursor: string | undefined;
  readonly #leftOut = new Set<string>();
  #isLogged = false;

  refuse(cursor: string | undefined): void {
    if (cursor === undefined) return;
    // A position behind the refused one takes nothing back.
    if (this.#cursor === undefined || orderKey(cursor) > orderKey(this.#cursor)) {
      this.#cursor = cursor;
    }
    this.#isLogged = false;
  }

  /** Ends the refusal, because there is a new position. */
  replace(log: Logger): void {
    this.logLeftOut(log);
    this.#cursor = undefined;
    this.#leftOut.clear();
  }

  /** Returns whether an event is left out, because it is not behind the position. */
  leavesOut(id: string): boolean {
    const isDone = this.covers(id);
    if (isDone && !this.#isLogged) this.#leftOut.add(id);
    return isDone;
  }

  /** Logs once how many events were left out, in case they were not done. */
  logLeftOut(log: Logger): void {
    if (this.#leftOut.size === 0 || this.#isLogged) return;
    this.#isLogged = true;
    log.warn(
      { events: this.#leftOut.size },
      "skipped events up to the saved position; they count as done",
    );
  }

  /** Returns whether an event or a position is not behind the refused one, as far as the two can be compared. */
  covers(id: string): boolean {
    const cursor = this.#cursor;
    if (cursor === undefined || idFamily(id) !== idFamily(cursor)) return false;
    return orderKey(id) <= orderKey(cursor);
  }
}

/** An event of a page: its id, and when it was made, in ms since 1970 on the platform's clock. */
type Dated = readonly [id: string, at: number];

/**
 * Finds out when events were made. An event without a readable date, with one in the future, or read without the platform's time
 * was made when it was first seen, at the latest. It must not count as new at each reading, or the cursor would
 * never get past it.
 */
class EventDates {
  /** When each event without a good date was first seen. */
  #seenAt = new Map<string, number>();
  #seenNow = new Map<string, number>();

  /** Dates the events of a page, in its order. */
  of({ events, date }: EventPage, now: number): Dated[] {
    return events.map((raw): Dated => {
      const { id, createdAt }: { id?: unknown; createdAt?: unknown } = Object(raw);
      const at = date === undefined ? Number.NaN : Date.parse(String(createdAt));
      return [String(id), at <= now ? at : this.#firstSeen(keyOf(raw, id), now)];
    });
  }

  /** Forgets the events that a reading from the cursor did not meet, because they are behind the cursor. */
  forgetPassed(): void {
    this.#seenAt = this.#seenNow;
    this.#seenNow = new Map();
  }

  #firstSeen(key: string, now: number): number {
    const at = this.#seenAt.get(key) ?? this.#seenNow.get(key) ?? now;
    this.#seenNow.set(key, at);
    return at;
  }
}

/** Returns the id, or the whole event if it has none. */
function keyOf(raw: unknown, id: unknown): string {
  return idText(id) ?? textOf(raw) ?? "";
}
