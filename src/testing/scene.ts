import { numberIn, OBJECT, required, STRING } from "../core/kinds.ts";
import type { OptionTable } from "../core/option-checks.ts";
import { idText } from "../events/id.ts";
import { conversationOf } from "../events/lane.ts";
import type { AnyEvent, EventType } from "../events/types.ts";
import type { Control } from "../platform/control/control.ts";
import { PlatformError } from "../platform/error.ts";
import { plainUsername } from "../platform/input-rules.ts";
import { type Kind, Names } from "./names.ts";

/** An event that a test makes up, with its own ids. */
export interface Happening {
  /** Must be larger than earlier ids. Default: a new platform id. */
  readonly id?: string | undefined;
  /** A type of the platform, or any other. */
  readonly type: string;
  /** Fields of the event, with ids of the test. */
  readonly payload: object;
}

/** The platform sends a payload as JSON. */
export const PAYLOAD: ReturnType<typeof required> = required({
  expected: "an object that JSON can represent",
  fits: (value) => OBJECT.fits(value) && typeof JSON.stringify(value) === "string",
});

export const HAPPENING: OptionTable<Happening> = {
  id: STRING,
  type: required(STRING),
  payload: PAYLOAD,
};

/** Options for a user's action on the platform. */
export interface ActOptions {
  /** Name of the user. Default `ada`. A new name creates a user. */
  readonly from?: string;
  /**
   * Post to act on. Default: the bot's newest post. A new name creates a post. A mention with this option is a comment
   * on the post.
   */
  readonly postId?: string;
  /** Comment by the bot to reply to or like. Default for a reply: the bot's newest comment. */
  readonly commentId?: string;
  /** Number of attached images, 0 to 4. Default 0. */
  readonly images?: number;
}

export const ACT_OPTIONS: OptionTable<ActOptions> = {
  from: STRING,
  postId: STRING,
  commentId: STRING,
  images: numberIn({ max: 4, whole: true }),
};

/** A user's action, with its type and text. */
export interface TypedAct extends ActOptions {
  /** Type of the event that the action causes. */
  readonly type: EventType;
  /** Text of the message, post or comment. Default: a sample text. */
  readonly text?: string;
}

type Act = Parameters<Control["act"]>[0];
type Acted = ReturnType<Control["act"]>;

export const TYPED_ACT: OptionTable<TypedAct> = {
  ...ACT_OPTIONS,
  type: required(STRING),
  text: STRING,
};

/** Author of posts whose author is not named in any event. */
const UNKNOWN = "somebody";

export const DEFAULT_PERSON = "ada";

const BOT = "bot";

const USERNAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,28}[a-z0-9_])?$/;

/**
 * Plays a test's events on a platform. Translates ids and names, because a test chooses its own and the platform
 * numbers its objects.
 */
export class Scene {
  readonly #control: Pick<Control, "act">;
  readonly #names = new Names();
  /** Each user's first conversation, by the test's names. */
  readonly #conversationOf = new Map<string, string>();
  #strangers = 0;

  constructor(control: Pick<Control, "act">) {
    this.#control = control;
  }

  /**
   * Adds an event to the platform's log. Creates its user, conversation and message, or its post and comment. Has no
   * effect if the id is repeated, or if the platform could not have sent the event.
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
   * Performs a user's action. Returns the events that the platform creates for the bot, with the test's names.
   *
   * @param nextId returns the id of each event. Default: the platform's id
   * @throws {PlatformError} if the platform refuses the action
   */
  act(input: TypedAct, nextId?: () => string): readonly AnyEvent[] {
    const { type, from = DEFAULT_PERSON, text, images, postId, commentId } = input;
    const username = this.#names.find("person", from) === undefined ? plainUsername(from) : from;
    const acted = this.#act({
      type,
      text,
      images,
      // The action itself creates a new user, so that the platform can reject the name.
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

  commentAsBot(): void {
    const { postId } = this.#act({ type: "post", from: UNKNOWN });
    this.#act({ type: "comment", from: BOT, postId });
  }

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

  /** Translates the ids and usernames in a platform response. Users' text stays unchanged. */
  toTest(json: string): string {
    const translated = JSON.parse(json, (key: string, value: unknown) =>
      typeof value === "string" && IDENTIFIER.test(key)
        ? this.#names.displayName(value, key)
        : value,
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
    // The platform has a single conversation with each user, but a test may have several. Each further conversation
    // gets another user with the same display name.
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

  /** Creates the post if the name is new. */
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

  /** Gives the user a new username for each further conversation, with the same display name. */
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

/** Names of fields with ids and usernames. A cursor of `GET /events` is also an id. */
const IDENTIFIER = /^id$|Id$|^cursor$|^username$|^authorUsername$/;
