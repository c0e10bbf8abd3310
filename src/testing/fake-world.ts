import { pageOf } from "./fake-answers.ts";
import { urlOf } from "./fake-uploads.ts";

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

/** An event, as far as the platform learns from it who there is and what was said. */
export interface Happening {
  readonly id?: string | undefined;
  readonly type: string;
  readonly payload: object;
  readonly createdAt?: string | undefined;
}

export interface Person {
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

const BOT: Person = { username: "bot", name: "Bot", isBot: true };

/** Who there is and what was said, oldest first. */
export class FakeWorld {
  readonly #now: () => number;
  readonly #entries: Entry[] = [];
  readonly #people = new Map<string, Person>([[BOT.username, BOT]]);
  /** The conversations of the bot, with whom each is. */
  readonly #conversations = new Map<string, Person>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What the bot has said. */
  get sent(): readonly SentByBot[] {
    return this.#entries
      .filter(({ by }) => by === BOT.username)
      .map(({ id: _id, createdAt: _createdAt, by: _by, ...said }) => said);
  }

  get bot(): Person {
    return BOT;
  }

  /** The bot says something. */
  say(said: SentByBot): Entry {
    const entry = {
      ...said,
      id: `sent_${this.sent.length + 1}`,
      createdAt: this.#date(),
      by: "bot",
    };
    this.#entries.push(entry);
    return entry;
  }

  /** Somebody does something that the bot is told of. The same event again changes nothing. */
  happen({ id = "", payload, createdAt = this.#date() }: Happening): void {
    const { from, actor, conversationId, excerpt, entityType, entityId }: Fields = { ...payload };
    const person = this.#meet(from ?? actor);
    const text = typeof excerpt === "string" ? excerpt : "";
    const said = { createdAt, by: person.username, text };
    if (typeof conversationId === "string") {
      this.#conversations.set(conversationId, person);
      this.#remember({ ...said, kind: "dm", conversationId, id: `message_of_${id}` });
    } else if (entityType === "post" && typeof entityId === "string") {
      this.#remember({ ...said, kind: "post", id: entityId });
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

  conversations(query: URLSearchParams): unknown {
    const items = [...this.#conversations].flatMap(([id, peer]) => {
      const [last] = this.#newest(ofConversation(id));
      if (last === undefined) return [];
      const { createdAt: lastMessageAt, text, by } = last;
      const lastMessage = { text, fromBot: by === BOT.username };
      return [{ id, peer: { ...peer, avatarUrl: null }, lastMessageAt, lastMessage }];
    });
    return pageOf(items.reverse(), query);
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

  #newest(fits: (entry: Entry) => boolean): Entry[] {
    return this.#entries.filter(fits).reverse();
  }

  #remember(entry: Entry): void {
    if (!this.#entries.some(({ id }) => id === entry.id)) this.#entries.push(entry);
  }

  #meet(who: unknown): Person {
    const { username = "somebody", name = username }: Fields = { ...Object(who) };
    const person = { username: String(username), name: String(name), isBot: false };
    this.#people.set(person.username, person);
    return person;
  }

  #date(): string {
    return new Date(this.#now()).toISOString();
  }
}

type Fields = Readonly<Record<string, unknown>>;

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
