import { idText } from "../events/id.ts";
import type { Control } from "../platform/control/control.ts";
import { PlatformError } from "../platform/error.ts";

/** An event that a test makes up, with ids of its own. */
export interface Happening {
  /** Larger than those before. Default: a new id of the platform. */
  readonly id?: string | undefined;
  readonly type: string;
  readonly payload: object;
}

type Kind = "event" | "conversation" | "post" | "comment" | "message" | "person";

type Act = Parameters<Control["act"]>[0];
type Acted = ReturnType<Control["act"]>;

/** The author of whatever no event names the author of. */
const UNKNOWN = "somebody";

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

const prefixes: Readonly<Record<string, Kind>> = {
  c: "conversation",
  p: "post",
  cm: "comment",
  m: "message",
  evt: "event",
};

/** Names of a test and of the platform for the same things. */
class Names {
  readonly #actual = new Map<string, string>();
  readonly #shown = new Map<string, string>();

  has(kind: Kind, name: string): boolean {
    return this.#actual.has(`${kind} ${name}`);
  }

  find(kind: Kind, name: string): string | undefined {
    return this.#actual.get(`${kind} ${name}`);
  }

  /** Returns the platform's name. An unknown one stays unknown, even if the platform has something of that name. */
  actual(kind: Kind, name: string): string {
    return this.find(kind, name) ?? (this.#shown.has(name) ? `unknown_${name}` : name);
  }

  /** Binds a name of the test to one of the platform. The first one stays. */
  bind(kind: Kind, name: string | undefined, actual: string | undefined, shown = name): void {
    if (name === undefined || actual === undefined || this.has(kind, name)) return;
    this.#actual.set(`${kind} ${name}`, actual);
    if (shown !== undefined && !this.#shown.has(actual)) this.#shown.set(actual, shown);
  }

  /** Returns the test's name. Something new of the platform's own keeps its id, unless the test uses that. */
  shown(actual: string, field: string): string {
    const known = this.#shown.get(actual);
    if (known !== undefined || /sername$/.test(field)) return known ?? actual;
    const kind = prefixes[/^([a-z]+)_\d+$/.exec(actual)?.[1] ?? ""];
    if (kind === undefined) return actual;
    const name = this.has(kind, actual) ? `${actual}_of_bot` : actual;
    this.bind(kind, name, actual);
    return name;
  }
}
