import { isOwn, ownTypeOf, type PayloadPlace } from "../../events/own.ts";
import type { AnyEvent } from "../../events/types.ts";
import { appNamed } from "../accounts.ts";
import { invalid, notFound } from "../error.ts";
import { eventOf, type LoggedEvent } from "../store/event-log.ts";
import type { Store } from "../store/store.ts";
import type { EntryOf, Timeline } from "../timeline/timeline.ts";

/** Maximum number of conversations and posts to remember. */
const MAX_PLACES = 10_000;

const PLACE = /^\/(?:dm\/conversations\/(?=c_)|posts\/(?=p_))(\w+)/;

const PLACE_ID = /^[cp]_\w+$/;

/** Remembers the last event that each bot received for each conversation and post, by webhook or polling. */
export class ShownEvents {
  readonly #store: Store;
  readonly #timeline: Timeline;
  readonly #newest = new Map<string, string>();

  constructor(store: Store, timeline: Timeline) {
    this.#store = store;
    this.#timeline = timeline;
  }

  note(bot: number, events: readonly LoggedEvent[]): void {
    for (const event of events) {
      for (const place of placesOf(event)) this.#set(`${bot} ${place}`, event.id);
    }
  }

  /** Guesses which event caused a call: the last event that the bot received for the same conversation or post. */
  guess(bot: number, path: string): string | undefined {
    const id = this.#newest.get(`${bot} ${PLACE.exec(path)?.[1]}`);
    return id !== undefined && this.has(bot, id) ? id : undefined;
  }

  /**
   * Returns whether an id sent by a bot belongs to one of the bot's events: an event in the current state's log, or a
   * timer or cron event. Adds an unknown timer or cron event to the timeline.
   *
   * @param place the timer's conversation or post, if the bot sent it
   */
  recognize(bot: number, id: string, place: PayloadPlace): boolean {
    if (!isOwn(id)) return this.has(bot, id);
    const { username } = this.#store.people.get(bot);
    if (ownEntry(this.#timeline, id, username) !== undefined) return true;
    const event = { id, type: ownTypeOf(id), bot: username, from: username };
    this.#timeline.add({ kind: "event", ...event, ...place });
    return true;
  }

  /**
   * Returns whether the event is in the bot's log. After a restore, the log no longer contains the old state's events.
   */
  has(bot: number, id: string): boolean {
    return this.#store.events.findById(id)?.recipient === bot;
  }

  #set(place: string, id: string): void {
    this.#newest.delete(place);
    this.#newest.set(place, id);
    const [oldest] = this.#newest.keys();
    if (this.#newest.size > MAX_PLACES && oldest !== undefined) this.#newest.delete(oldest);
  }
}

export function placeIn(path: string): PayloadPlace {
  const place = PLACE.exec(path)?.[1];
  if (place === undefined) return {};
  return place.startsWith("c_") ? { conversationId: place } : { postId: place };
}

export interface FoundEvent {
  readonly event: AnyEvent;
  /** Username of the bot that the event is for. */
  readonly bot: string;
}

/**
 * Finds an event in the log, or one of the bots' own events in the timeline.
 *
 * @param bot username; needed only if several bots have a timer or cron event with this id
 * @throws {PlatformError} 404 NOT_FOUND; 400 VALIDATION if several bots have the event and `bot` is missing
 */
export function findEvent(store: Store, timeline: Timeline, id: string, bot?: string): FoundEvent {
  const own = isOwn(id) ? ownEntry(timeline, id, bot && appNamed(store, bot).username) : undefined;
  if (own !== undefined) {
    const event = { id, type: own.type, createdAt: own.at, payload: {} } as AnyEvent;
    return { event, bot: own.bot };
  }
  const logged = store.events.findById(id);
  if (logged === undefined) throw notFound(`event: ${id}`);
  return { event: eventOf(logged), bot: store.people.get(logged.recipient).username };
}

/**
 * Finds a timer or cron event. Several bots may have such an event with the same id.
 *
 * @param bot username. Default: the only bot with this id
 * @throws {PlatformError} 400 VALIDATION if several bots have this id and `bot` is missing
 */
function ownEntry(timeline: Timeline, id: string, bot?: string): EntryOf<"event"> | undefined {
  const found = timeline.after(0).filter((entry): entry is EntryOf<"event"> => {
    return entry.kind === "event" && entry.id === id && (bot === undefined || entry.bot === bot);
  });
  const bots = new Set(found.map((entry) => entry.bot));
  if (bots.size < 2) return found[0];
  throw invalid(`several bots have an event ${id}; set bot to one of ${[...bots].join(", ")}`);
}

/** Returns the conversation or posts of an event. A quote has two posts: the quoted one and the new one. */
function placesOf(event: LoggedEvent): readonly string[] {
  const payload: Readonly<Record<string, unknown>> = { ...eventOf(event).payload };
  const { conversationId, postId, entityId } = payload;
  return [conversationId, postId, entityId].filter(
    (id): id is string => typeof id === "string" && PLACE_ID.test(id),
  );
}
