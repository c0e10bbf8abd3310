import { isOwn, ownTypeOf } from "../../events/own.ts";
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
   * @param path of the request, which may name its conversation or post
   */
  recognise(bot: number, id: string, path = ""): boolean {
    if (!isOwn(id)) return this.has(bot, id);
    const { username } = this.#store.people.get(bot);
    const known = ownEntry(this.#timeline, id);
    if (known !== undefined) return known.bot === username;
    const place = PLACE.exec(path)?.[1];
    const named = place && { [place.startsWith("c_") ? "conversationId" : "postId"]: place };
    const event = { id, type: ownTypeOf(id), bot: username, from: username, ...named };
    this.#timeline.add({ kind: "event", ...event });
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

/** Finds a timer or a cron that a bot has named. */
export function ownEntry(timeline: Timeline, id: string): EntryOf<"event"> | undefined {
  return timeline
    .after(0)
    .find((entry): entry is EntryOf<"event"> => entry.kind === "event" && entry.id === id);
}

/** Returns the conversation or the posts that an event names. A quote has two: the quoted post and the new one. */
function placesOf(event: LoggedEvent): readonly string[] {
  const payload: Readonly<Record<string, unknown>> = { ...eventOf(event).payload };
  const { conversationId, postId, entityId } = payload;
  return [conversationId, postId, entityId].filter(
    (id): id is string => typeof id === "string" && PLACE_ID.test(id),
  );
}
