import { isOwn, ownTypeOf, type PayloadPlace } from "../../events/own.ts";
import { invalid } from "../error.ts";
import { eventOf, type LoggedEvent } from "../store/event-log.ts";
import type { Store } from "../store/store.ts";
import type { EntryOf, Timeline } from "../timeline/timeline.ts";

/** Places that are remembered. */
const MAX_PLACES = 10_000;

/** The conversation or the post that a path of the API names. */
const PLACE = /^\/(?:dm\/conversations\/(?=c_)|posts\/(?=p_))(\w+)/;

/** The id of a conversation or a post. */
const PLACE_ID = /^[cp]_\w+$/;

/** Which event a bot was shown last of each conversation and each post, by delivery or by polling. */
export class ShownEvents {
  readonly #store: Store;
  readonly #timeline: Timeline;
  readonly #newest = new Map<string, string>();

  constructor(store: Store, timeline: Timeline) {
    this.#store = store;
    this.#timeline = timeline;
  }

  /** These events go out to a bot now. */
  note(bot: number, events: readonly LoggedEvent[]): void {
    for (const event of events) {
      for (const place of placesOf(event)) this.#set(`${bot} ${place}`, event.id);
    }
  }

  /** The event because of which a bot probably asks for this path: the newest that it was shown of that place. */
  guess(bot: number, path: string): string | undefined {
    const id = this.#newest.get(`${bot} ${PLACE.exec(path)?.[1]}`);
    return id !== undefined && this.has(bot, id) ? id : undefined;
  }

  /**
   * Returns whether an id that a bot names is of one of its events: of its log, which may have been replaced meanwhile, or a
   * timer or a cron of its own. Those are entries of the timeline from then on.
   *
   * @param place of the timer, as far as it is known
   */
  recognise(bot: number, id: string, place: PayloadPlace): boolean {
    if (!isOwn(id)) return this.has(bot, id);
    const { username } = this.#store.people.get(bot);
    if (ownEntry(this.#timeline, id, username) !== undefined) return true;
    const event = { id, type: ownTypeOf(id), bot: username, from: username };
    this.#timeline.add({ kind: "event", ...event, ...place });
    return true;
  }

  /** True for an event in the log of this bot; the state may have been replaced meanwhile. */
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

/** Returns the conversation or the post that a path of the API names. */
export function placeIn(path: string): PayloadPlace {
  const place = PLACE.exec(path)?.[1];
  if (place === undefined) return {};
  return place.startsWith("c_") ? { conversationId: place } : { postId: place };
}

/**
 * Finds a timer or a cron that a bot has named. Crons of several bots may have one id.
 *
 * @param bot its username. Default: the only bot with this id
 * @throws {PlatformError} 400 VALIDATION if several bots have this id, and none is named
 */
export function ownEntry(
  timeline: Timeline,
  id: string,
  bot?: string,
): EntryOf<"event"> | undefined {
  const found = timeline.after(0).filter((entry): entry is EntryOf<"event"> => {
    return entry.kind === "event" && entry.id === id && (bot === undefined || entry.bot === bot);
  });
  const bots = new Set(found.map((entry) => entry.bot));
  if (bots.size < 2) return found[0];
  throw invalid(`bot must say whose event ${id} is: ${[...bots].join(", ")}`);
}

/** Returns the conversation or the posts that an event names. A quote has two: the quoted post and the new one. */
function placesOf(event: LoggedEvent): readonly string[] {
  const payload: Readonly<Record<string, unknown>> = { ...eventOf(event).payload };
  const { conversationId, postId, entityId } = payload;
  return [conversationId, postId, entityId].filter(
    (id): id is string => typeof id === "string" && PLACE_ID.test(id),
  );
}
