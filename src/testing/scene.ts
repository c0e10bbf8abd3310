import { idText } from "../events/id.ts";
import { conversationOf } from "../events/lane.ts";
import type { AnyEvent, EventType } from "../events/types.ts";
import type { Control } from "../platform/control/control.ts";
import { PlatformError } from "../platform/error.ts";
import { plainUsername } from "../platform/input-rules.ts";
import { type Kind, Names } from "./names.ts";

/** An event that a test makes up, with ids of its own. */
export interface Happening {
  /** Larger than those before. Default: a new id of the platform. */
  readonly id?: string | undefined;
  readonly type: string;
  readonly payload: object;
}

/** An act of a person on the platform. */
export interface ActOptions {
  /** The username of the person. Default `ada`. A new name is a new person. */
  readonly from?: string;
  /** The post concerned. Default: the newest of the bot. A new name is a new post. For a mention: in a comment on it. */
  readonly postId?: string;
  /** The comment of the bot that is answered or liked. Default for a reply: the newest of the bot. */
  readonly commentId?: string;
  /** Number of images that are attached, from 0 to 4. Default 0. */
  readonly images?: number;
}

/** An act with its type and text. */
export interface TypedAct extends ActOptions {
  readonly type: EventType;
  readonly text?: string;
}

type Act = Parameters<Control["act"]>[0];
type Acted = ReturnType<Control["act"]>;

/** The author of whatever no event names the author of. */
const UNKNOWN = "somebody";

/** The person who acts unless a test names another. */
export const DEFAULT_PERSON = "ada";

/** The user name of the platform's bot. */
const BOT = "bot";

const USERNAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,28}[a-z0-9_])?$/;

/**
 * Plays the events of a test on a platform, and translates the ids of the test to the platform's and back. A test names
 * conversations, posts and people as it likes; the platform numbers them.
 */
export class Scene {
  readonly #control: Pick<Control, "act">;
  readonly #names = new Names();
  /** The person of each conversation, and the first conversation of each person. */
  readonly #conversationOf = new Map<string, string>();
  #strangers = 0;

  constructor(control: Pick<Control, "act">) {
    this.#control = control;
  }

  /**
   * Lets an event happen: from then on there are its person, its conversation with the message, its post with the
   * comment. The same id again changes nothing. An event that the platform could not have sent changes nothing either.
   */
  play({ id, type, payload }: Happening): void {
    if (id !== undefined && this.#names.has("event", id)) return;
    try {
      const { events } = this.#perform(type, { ...payload });
      const event = events.find((one) => one.type === type);
      if (event !== undefined && id !== undefined) this.#names.bind("event", id, event.id);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
    }
  }

  /**
   * Performs an act of a person. Returns its events for the bot in the words of the test.
   *
   * @param nextId makes the test's id of each event. Default: the id of the platform
   * @throws {PlatformError} if the platform refuses the act
   */
  act(input: TypedAct, nextId?: () => string): readonly AnyEvent[] {
    const { type, from = DEFAULT_PERSON, text, images, postId, commentId } = input;
    const username = this.#names.find("person", from) === undefined ? plainUsername(from) : from;
    const acted = this.#act({
      ...{ type, text, images },
      // Made with the act, so that the platform can refuse a name.
      from: this.#names.find("person", username) ?? username,
      postId: this.#post(postId, type === "mention" ? UNKNOWN : BOT),
      commentId: commentId && this.#names.actual("comment", commentId),
    });
    this.#names.bind("person", username, username);
    for (const { id } of acted.events) this.#names.bind("event", nextId?.(), id);
    const events: readonly AnyEvent[] = JSON.parse(this.toTest(JSON.stringify(acted.events)));
    const conversation = events.map(conversationOf).find((id) => id !== undefined);
    if (conversation !== undefined && !this.#conversationOf.has(username)) {
      this.#conversationOf.set(username, conversation);
    }
    return events;
  }

  /** Lets the bot comment on a post of another account. */
  commentAsBot(): void {
    const { postId } = this.#act({ type: "post", from: UNKNOWN });
    this.#act({ type: "comment", from: BOT, postId });
  }

  /** Translates the address of a request of the bot. */
  toPlatform(url: string): URL {
    const address = new URL(url);
    const { pathname, searchParams } = address;
    address.pathname = pathname.replace(
      /(conversations|posts|users)\/([^/]+)/,
      (_, list: string, name: string) => {
        const kind = kinds[list] ?? "post";
        return `${list}/${encodeURIComponent(this.#names.actual(kind, decodeURIComponent(name)))}`;
      },
    );
    const since = searchParams.get("since");
    if (since) searchParams.set("since", this.#names.actual("event", since));
    return address;
  }

  /** Translates an answer of the platform: the ids and user names in its JSON, but no text of people. */
  toTest(json: string): string {
    const translated = JSON.parse(json, (key: string, value: unknown) =>
      typeof value === "string" && IDENTIFIER.test(key) ? this.#names.shown(value, key) : value,
    );
    return JSON.stringify(translated);
  }

  #perform(type: string, payload: Readonly<Record<string, unknown>>): Acted {
    const { from, actor, excerpt, entityType, entityId } = payload;
    const { username }: { username?: unknown } = { ...Object(from ?? actor) };
    const who = typeof username === "string" ? username : UNKNOWN;
    const text = typeof excerpt === "string" && excerpt !== "" ? excerpt : undefined;
    const conversation = idText(payload["conversationId"]);
    if (conversation !== undefined) return this.#message(conversation, who, text);
    const named = (kind: string) =>
      idText(payload[`${kind}Id`]) ?? (entityType === kind ? idText(entityId) : undefined);
    const place = { post: named("post"), comment: named("comment") };
    return this.#activity(type, { who: this.#person(who), text, ...place, payload });
  }

  #message(conversation: string, who: string, text: string | undefined): Acted {
    // The platform has one conversation with each person. A test may have several, so the others get a double.
    const first = this.#conversationOf.get(who) ?? conversation;
    this.#conversationOf.set(who, first);
    const from = this.#person(who, first === conversation ? who : `${who} in ${conversation}`);
    const acted = this.#act({ type: "dm.message", from, text });
    this.#names.bind("conversation", conversation, acted.conversationId);
    return acted;
  }

  #activity(type: string, { who: from, text, post, comment, payload }: Activity): Acted {
    switch (type) {
      case "mention": {
        const isPost = comment === undefined;
        const postId = isPost ? undefined : post && this.#post(post, UNKNOWN);
        const acted = this.#act({ type, from, text, postId });
        if (isPost) this.#names.bind("post", post, acted.postId);
        else this.#names.bind("comment", comment, acted.commentId);
        return acted;
      }
      case "comment":
      case "reply": {
        const postId = this.#post(post, type === "comment" ? BOT : UNKNOWN);
        const to = type === "comment" ? { postId } : { commentId: this.#botsComment(postId) };
        const acted = this.#act({ type, from, text, ...to });
        this.#names.bind("comment", comment, acted.commentId);
        return acted;
      }
      case "like":
      case "repost":
      case "quote": {
        const postId = this.#post(post, BOT, type === "quote" ? undefined : text);
        const isComment = type === "like" && comment !== undefined;
        if (!isComment) return this.#act({ type, from, postId, ...(type === "quote" && { text }) });
        const commentId = this.#names.find("comment", comment) ?? this.#botsComment(postId, text);
        this.#names.bind("comment", comment, commentId);
        return this.#act({ type, from, commentId });
      }
      case "follow":
        return this.#act({ type, from });
      default: {
        if (post !== undefined) this.#post(post, UNKNOWN);
        return this.#act({ type, from, payload });
      }
    }
  }

  /** Finds the post of a name, or lets somebody make it. */
  #post(name: string | undefined, author: string, text?: string): string | undefined {
    const known = name === undefined ? undefined : this.#names.find("post", name);
    if (known !== undefined || name === undefined) return known;
    const { postId } = this.#act({ type: "post", from: author, text });
    this.#names.bind("post", name, postId);
    return postId;
  }

  #botsComment(postId: string | undefined, text?: string): string | undefined {
    return this.#act({ type: "comment", from: BOT, postId, text }).commentId;
  }

  /** Finds the platform's user name of a person, or of a double that is shown under the same name. */
  #person(username: string, key: string = username): string {
    const known = this.#names.find("person", key);
    if (known !== undefined) return known;
    const isFree = key === username && USERNAME.test(username);
    const actual = isFree ? username : `person_${++this.#strangers}`;
    this.#names.bind("person", key, actual, username);
    return actual;
  }

  #act(act: Act): Acted {
    return this.#control.act(act);
  }
}

interface Activity {
  readonly who: string;
  readonly text: string | undefined;
  readonly post: string | undefined;
  readonly comment: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
}

const kinds: Readonly<Record<string, Kind>> = {
  conversations: "conversation",
  posts: "post",
  users: "person",
};

/** Fields that hold ids and user names. A cursor of `GET /events` is an id as well. */
const IDENTIFIER = /^id$|Id$|^cursor$|^username$|^authorUsername$/;
