import { pageOf } from "./fake-answers.ts";
import { type Fields, learn } from "./fake-learning.ts";
import type { Happened } from "./fake-log.ts";
import { urlOf } from "./fake-uploads.ts";

/** Text, images or both. */
interface Content {
  readonly text: string;
  /** Absent when there are none. */
  readonly imageKeys?: readonly string[];
}

/** What a bot said. */
export type SentByBot =
  | ({ readonly kind: "dm"; readonly conversationId: string } & Content)
  | ({ readonly kind: "comment"; readonly postId: string } & Content)
  | ({ readonly kind: "post" } & Content);

/** What somebody said. */
export type Entry = SentByBot & {
  readonly id: string;
  readonly createdAt: string;
  /** A user name. */
  readonly by: string;
};

export interface Person {
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

const BOT: Person = { username: "bot", name: "Bot", isBot: true };

/** Who wrote what no event tells the author of. */
const UNKNOWN = "somebody";

/** Who there is and what was said, oldest first. */
export class FakeWorld {
  readonly #now: () => number;
  readonly #entries: Entry[] = [];
  readonly #sent: SentByBot[] = [];
  readonly #people = new Map<string, Person>([[BOT.username, BOT]]);
  /** The conversations of the bot, with whom each is. */
  readonly #conversations = new Map<string, Person>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What the bot has said here; what it must have said before, for an event to happen, is not in it. */
  get sent(): readonly SentByBot[] {
    return this.#sent;
  }

  get bot(): Person {
    return BOT;
  }

  /** The bot says something. */
  say(said: SentByBot): Entry {
    const id = `sent_${this.#sent.push(said)}`;
    const createdAt = new Date(this.#now()).toISOString();
    const entry = { ...said, id, createdAt, by: BOT.username };
    this.#entries.push(entry);
    return entry;
  }

  /** Somebody does something that the bot is told of. What is known already stays as it is. */
  happen(event: Happened): void {
    const { from, actor }: Fields = { ...event.payload };
    const person = this.#meet(from ?? actor);
    const authors = { bot: BOT.username, actor: person.username, unknown: UNKNOWN };
    for (const { place, id, text, by } of learn(event)) {
      if (place.kind === "dm") this.#conversations.set(place.conversationId, person);
      if (this.#entries.some((known) => known.id === id)) continue;
      this.#entries.push({ ...place, id, text, by: authors[by], createdAt: event.createdAt });
    }
  }

  person(username: string): Person | undefined {
    return this.#people.get(username);
  }

  hasConversation(id: string): boolean {
    return this.#conversations.has(id);
  }

  messages(conversationId: string, query: URLSearchParams): unknown {
    return pageOf(this.#newest(ofConversation(conversationId)).map(messageView), query);
  }

  /** By the last message that the bot was sent: its own answers move none to the front. */
  conversations(query: URLSearchParams): unknown {
    const received = this.#newest(({ kind, by }) => kind === "dm" && by !== BOT.username);
    const ids = new Set(received.map((entry) => (entry.kind === "dm" ? entry.conversationId : "")));
    return pageOf(
      [...ids].map((id) => this.#conversationView(id)),
      query,
    );
  }

  comments(postId: string, query: URLSearchParams): unknown {
    const ofPost = (entry: Entry) => entry.kind === "comment" && entry.postId === postId;
    return pageOf(this.#newest(ofPost).map(postView), query);
  }

  post(id: string): unknown {
    const [found] = this.#newest((entry) => entry.kind === "post" && entry.id === id);
    return found && postView(found);
  }

  /** The posts of the bot. */
  feed(query: URLSearchParams): unknown {
    const own = (entry: Entry) => entry.kind === "post" && entry.by === BOT.username;
    return pageOf(this.#newest(own).map(postView), query);
  }

  /** Posts whose text, and people whose name, has this in it. */
  search(query: URLSearchParams): unknown {
    const wanted = (query.get("q") ?? "").toLowerCase();
    const has = (text: string) => text.toLowerCase().includes(wanted);
    const posts = this.#newest(({ kind, text }) => kind === "post" && has(text)).map(postView);
    const people = [...this.#people.values()].filter(({ username, name }) => has(username + name));
    return pageOf([...posts, ...people.map((person) => ({ type: "user", ...person }))], query);
  }

  #conversationView(id: string): unknown {
    const [last] = this.#newest(ofConversation(id));
    const lastMessage = { text: last?.text, fromBot: last?.by === BOT.username };
    const peer = { ...this.#conversations.get(id), avatarUrl: null };
    return { id, peer, lastMessageAt: last?.createdAt, lastMessage };
  }

  #newest(fits: (entry: Entry) => boolean): Entry[] {
    return this.#entries.filter(fits).reverse();
  }

  #meet(who: unknown): Person {
    const { username, name }: Fields = { ...Object(who) };
    const known = String(username ?? UNKNOWN);
    const person = { username: known, name: String(name ?? known), isBot: false };
    this.#people.set(person.username, person);
    return person;
  }
}

function ofConversation(id: string): (entry: Entry) => boolean {
  return (entry) => entry.kind === "dm" && entry.conversationId === id;
}

function messageView(entry: Entry): unknown {
  const { kind: _kind, imageKeys: _keys, by, ...rest } = entry;
  const images = imagesOf(entry).map(({ thumbUrl: _thumbUrl, ...image }) => image);
  return { ...rest, fromBot: by === BOT.username, authorUsername: by, replyToId: null, images };
}

/** A post or a comment. */
export function postView(entry: Entry): unknown {
  const { kind, imageKeys: _keys, by, ...rest } = entry;
  return { ...rest, type: kind, author: { username: by }, images: imagesOf(entry) };
}

function imagesOf({ imageKeys = [] }: Entry) {
  const size = { width: 1, height: 1 };
  return imageKeys.map((key) => ({ url: urlOf(key), thumbUrl: urlOf(key), ...size }));
}
