import { eventOf, type LoggedEvent } from "../store/event-log.ts";
import type { Store } from "../store/store.ts";

/** Places that are remembered. */
const MAX_PLACES = 10_000;

/** The conversation or the post that a path of the API names. */
const PLACE = /^\/(?:dm\/conversations\/(?=c_)|posts\/(?=p_))(\w+)/;

/** The id of a conversation or a post. */
const PLACE_ID = /^[cp]_\w+$/;

/** Which event a bot was shown last of each conversation and each post, by delivery or by polling. */
export class ShownEvents {
  readonly #store: Store;
  readonly #newest = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
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

/** Returns the conversation or the posts that an event names. A quote has two: the quoted post and the new one. */
function placesOf(event: LoggedEvent): readonly string[] {
  const payload: Readonly<Record<string, unknown>> = { ...eventOf(event).payload };
  const { conversationId, postId, entityId } = payload;
  return [conversationId, postId, entityId].filter(
    (id): id is string => typeof id === "string" && PLACE_ID.test(id),
  );
}
