import { Http, type HttpOptions, type RequestOptions } from "./http.ts";
import { commentsPath, messagesPath } from "./paths.ts";
import {
  check,
  comment,
  eventPage,
  message,
  pageOf,
  profile,
  sentComment,
  sentMessage,
} from "./schemas.ts";
import type {
  Comment,
  EventPage,
  Message,
  OutgoingMessage,
  Page,
  PageOptions,
  Profile,
  SentComment,
  SentMessage,
} from "./types.ts";

export type ClientOptions = HttpOptions;

/**
 * The platform's API v1 (section 4 of the platform document), as far as a bot that answers needs it.
 * Every method rejects with an `ApiError` for an answer that is not 2xx, a `NetworkError` when none
 * came, and a `ServiceBotError` API_INVALID_RESPONSE when it is not as documented.
 */
export class Client {
  /** Direct messages. Scope: `dm`. */
  readonly dms: Dms;
  /** Posts and comments. */
  readonly posts: Posts;
  readonly #http: Http;

  constructor(options: ClientOptions) {
    this.#http = new Http(options);
    this.dms = new Dms(this.#http);
    this.posts = new Posts(this.#http);
  }

  /** Deadline of one request, in milliseconds. */
  get timeoutMs(): number {
    return this.#http.timeoutMs;
  }

  /** How far the platform's clock is ahead of ours, in milliseconds, by the last answer. */
  get clockOffsetMs(): number {
    return this.#http.offsetMs;
  }

  /** The bot's own profile. */
  async me(options: { signal?: AbortSignal } = {}): Promise<Profile> {
    const { body } = await this.#http.request("GET", "/me", options);
    return check(profile, body, "GET /me");
  }

  /**
   * A page of the event log, oldest first. Scope: `read` or `dm`, and only the events of that scope.
   *
   * @param query `since` is the cursor of the page before; empty it asks for the present, absent for
   *   the oldest event; `limit` is 1 to 50.
   */
  async events(
    query: { since?: string | undefined; limit?: number | undefined },
    options: { signal?: AbortSignal } = {},
  ): Promise<EventPage> {
    const { body, date } = await this.#http.request("GET", "/events", { ...options, query });
    return { ...check(eventPage, body, "GET /events"), date };
  }
}

/** Direct messages: reply-only, in conversations that somebody else began. */
export class Dms {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A page of a conversation, newest first. */
  async messages(conversationId: string, options: PageOptions = {}): Promise<Page<Message>> {
    const path = messagesPath(conversationId);
    const { body } = await this.#http.request("GET", path, paged(options));
    return check(pageOf(message), body, `GET ${path}`);
  }

  /** Sends a message. Not repeated on failure: whoever calls must know whether it arrived. */
  async send(
    conversationId: string,
    outgoing: OutgoingMessage,
    options: { signal?: AbortSignal } = {},
  ): Promise<SentMessage> {
    const path = messagesPath(conversationId);
    const { body } = await this.#http.request("POST", path, { ...options, body: outgoing });
    return check(sentMessage, body, `POST ${path}`);
  }
}

/** Posts and their comments. */
export class Posts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A page of a post's comments. Scope: `read`. Order and paging are not documented. */
  async comments(postId: string, options: PageOptions = {}): Promise<Page<Comment>> {
    const path = commentsPath(postId);
    const { body } = await this.#http.request("GET", path, paged(options));
    return check(pageOf(comment), body, `GET ${path}`);
  }

  /** Comments on a post. Scope: `comments:write`. Not repeated on failure. */
  async comment(
    postId: string,
    outgoing: OutgoingMessage,
    options: { signal?: AbortSignal } = {},
  ): Promise<SentComment> {
    const path = commentsPath(postId);
    const { body } = await this.#http.request("POST", path, { ...options, body: outgoing });
    return check(sentComment, body, `POST ${path}`);
  }
}

function paged(options: PageOptions): RequestOptions {
  const { limit, cursor, signal } = options;
  return { query: { limit, cursor }, signal };
}
