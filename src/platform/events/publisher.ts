import { placeOf } from "../../events/own.ts";
import type { AnyEvent } from "../../events/types.ts";
import type { EventFaults } from "../faults/event-faults.ts";
import { eventOf } from "../store/event-log.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { type Content, entryOf, type Notice, noticesOf } from "./content.ts";

export interface PublisherOptions {
  readonly store: Store;
  readonly timeline: Timeline;
  readonly eventFaults: EventFaults;
  /** Called with the `seq` of each bot that has events to deliver. */
  readonly onEvents: (bot: number) => void;
}

/** The account that caused an event, and the time in ms since 1970. */
export interface Cause {
  readonly from: User;
  readonly at: number;
}

export interface EventWriter {
  /**
   * Writes the content's events, except those for its author.
   *
   * @param meant bot to mention even if the text does not name it
   */
  content(content: Content, cause: Cause, meant?: User): void;
  /** Writes an event without content, such as a like. A bot gets no events about its own actions. */
  notice(notice: Notice, cause: Cause): void;
}

export interface Published<T> {
  readonly result: T;
  readonly events: readonly AnyEvent[];
}

interface PublishedEvent {
  readonly recipient: User;
  readonly event: AnyEvent;
  readonly from: string;
  readonly content: ReturnType<typeof entryOf> | undefined;
  /** Time until the event enters the log, in ms. 0 if the event is already in the log. */
  readonly lateMs: number;
}

export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` and writes its events in one transaction. After the commit, adds the events to the timeline and
   * notifies the webhooks.
   */
  transaction<T>(work: (write: EventWriter) => T): Published<T> {
    const written: PublishedEvent[] = [];
    const { store, eventFaults } = this.#options;
    const add = ({ recipient, event }: Notice, { from, at }: Cause, content?: Content) => {
      if (recipient.seq === from.seq && !eventFaults.reportsOwn()) return;
      const logged = store.events.append(recipient.seq, eventFaults.thin(event), at);
      const lateMs = eventFaults.hold(logged);
      if (lateMs === 0) store.webhook.enqueue(logged);
      const entry = content === undefined ? undefined : entryOf(content);
      written.push({
        recipient,
        event: eventOf(logged),
        from: from.username,
        content: entry,
        lateMs,
      });
    };
    const result = store.transaction(() =>
      work({
        content: (content, cause, meant) => {
          const notices = noticesOf(store, content, meant);
          for (const notice of notices) add(notice, cause, content);
        },
        notice: (notice, cause) => add(notice, cause),
      }),
    );
    this.#announce(written);
    return { result, events: written.map(({ event }) => event) };
  }

  #announce(written: readonly PublishedEvent[]): void {
    const { timeline, eventFaults, onEvents } = this.#options;
    for (const { recipient, event, from, lateMs, content } of written) {
      const { id, type, payload } = event;
      const late = lateMs === 0 ? {} : { lateMs };
      const bot = recipient.username;
      const place = placeOf(payload);
      timeline.add({ kind: "event", bot, id, type, from, ...place, ...content, ...late });
    }
    if (written.some(({ lateMs }) => lateMs > 0)) eventFaults.wake();
    for (const bot of new Set(written.map(({ recipient }) => recipient.seq))) onEvents(bot);
  }
}
