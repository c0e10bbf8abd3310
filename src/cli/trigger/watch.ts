import type { ActResult, EntryOf, TimelineEntry } from "../../platform/index.ts";
import type { ActRequest } from "../control-client.ts";

/** Something that a bot wrote. */
export type Answer = EntryOf<"api">;

/** An act, and what the platform says of it. */
export interface Happened {
  readonly act: ActRequest;
  readonly result: ActResult;
}

/** Picks from the timeline what belongs to one act. */
export class Watch {
  readonly answers: Answer[] = [];
  readonly #act: ActRequest;
  readonly #places: ReadonlySet<string>;
  /** The events that no bot has taken yet. */
  readonly #open: Set<string>;
  /** The bots concerned; what others write is no answer. */
  readonly #bots = new Set<string>();
  /** Nothing before the act itself is an answer to it. */
  #begun = false;

  constructor({ act, result }: Happened) {
    this.#act = act;
    this.#places = placesOf(result);
    this.#open = new Set(result.events.map(({ id }) => id));
  }

  /** True once all events were taken. */
  get taken(): boolean {
    return this.#open.size === 0;
  }

  see(entry: TimelineEntry): void {
    if (entry.kind === "event" && this.#open.has(entry.id)) this.#begin(entry.id, botOf(entry));
    else if (entry.kind === "delivery" && entry.error === undefined) this.#take(entry.eventIds);
    else if (entry.kind === "api") {
      if (entry.status === 200) this.#take(entry.eventIds ?? []);
      if (this.#begun && this.#isAnswer(entry)) this.answers.push(entry);
    }
  }

  #begin(id: string, bot: string | undefined): void {
    this.#begun = true;
    const to = this.#act.to?.replace(/^@/, "").toLowerCase();
    // A text may mention another bot as well, of which nothing is awaited.
    if (bot === undefined) return;
    if (to !== undefined && bot !== to) this.#open.delete(id);
    this.#bots.add(to ?? bot);
  }

  #take(eventIds: readonly string[]): void {
    for (const id of eventIds) this.#open.delete(id);
  }

  #isAnswer(entry: Answer): boolean {
    const { created, text = "" } = entry;
    const bot = botOf(entry);
    if (created === undefined) return false;
    if (bot !== undefined && this.#bots.size > 0 && !this.#bots.has(bot)) return false;
    const { conversationId, postId } = created;
    if (this.#places.size > 0) {
      return (
        this.#places.has(`conversation ${conversationId}`) || this.#places.has(`post ${postId}`)
      );
    }
    // What has no place is answered where the bot likes, by name.
    return mentions(text, this.#act.from);
  }
}

/** The conversations and posts that the events concern. */
function placesOf({ events, conversationId, postId }: ActResult): ReadonlySet<string> {
  const places = new Set<string>();
  const add = (kind: "conversation" | "post", id: unknown) => {
    if (typeof id === "string" && id !== "") places.add(`${kind} ${id}`);
  };
  add("conversation", conversationId);
  add("post", postId);
  for (const { payload } of events) {
    const named: Readonly<Record<string, unknown>> = { ...payload };
    add("conversation", named.conversationId);
    add("post", named.postId);
    if (named.entityType === "post") add("post", named.entityId);
  }
  return places;
}

/** The app concerned; a platform that has one alone does not name it. */
export function botOf(entry: TimelineEntry): string | undefined {
  return "bot" in entry && typeof entry.bot === "string" ? entry.bot : undefined;
}

function mentions(text: string, username: string): boolean {
  const name = username.replace(/^@/, "").toLowerCase();
  const words = text.toLowerCase().match(/@[a-z0-9_][a-z0-9_.-]*/g) ?? [];
  return words.some((word) => word.replace(/[.-]+$/, "") === `@${name}`);
}
