import type { RequestsStatus } from "./budget.ts";
import { Http, type HttpOptions, type LogPurpose, type RequestOptions } from "./http.ts";
import { commentsPath, messagesPath } from "./paths.ts";
import {
  check,
  eventPage,
  message,
  pageOf,
  post,
  profile,
  sentMessage,
  sentPost,
  upload,
} from "./schemas.ts";
import type {
  Comment,
  EventPage,
  ImageSource,
  Message,
  OutgoingMessage,
  Page,
  PageOptions,
  Post,
  Profile,
  SentComment,
  SentMessage,
  SentPost,
  Upload,
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
  #asked: Promise<void> | undefined;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: ClientOptions) {
    this.#http = new Http(options);
    this.dms = new Dms(this.#http);
    this.posts = new Posts(this.#http);
  }

  /** Deadline of one request, in milliseconds. */
  get timeoutMs(): number {
    return this.#http.timeoutMs;
  }

  /**
   * How long a request without a purpose can take, in milliseconds: its deadline, and five seconds of waiting
   * where there is a budget of requests.
   */
  get longestCallMs(): number {
    return this.#http.longestCallMs;
  }

  /** How much of the budget of requests is left; undefined without `maxRequestsPerMinute`. */
  get requests(): RequestsStatus | undefined {
    return this.#http.requests;
  }

  /** How far the platform's clock is ahead of ours, in milliseconds, by the last answer. */
  get clockOffsetMs(): number {
    return this.#http.offsetMs;
  }

  /** What the platform's clock shows, in ms since 1970; undefined before its first answer. */
  platformNow(): number | undefined {
    return this.#http.platformNow();
  }

  /**
   * Asks the platform for the time unless an answer has told it already: once, and whatever comes of it.
   * Any answer has a `Date`, a refusal too.
   */
  async learnTime(): Promise<void> {
    if (this.platformNow() !== undefined) return;
    this.#asked ??= this.me().then(
      () => undefined,
      () => undefined,
    );
    await this.#asked;
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
   * @param options with a `purpose` the request gives way to those of handlers, and waits for the budget of
   *   requests as long as it takes
   */
  async events(
    query: { since?: string | undefined; limit?: number | undefined },
    options: { signal?: AbortSignal; purpose?: LogPurpose } = {},
  ): Promise<EventPage> {
    const { body, date } = await this.#http.request("GET", "/events", { ...options, query });
    return { ...check(eventPage, body, "GET /events"), date };
  }

  /** A page of the feed. Scope: `read`. Order, paging and whose posts are in it are not documented. */
  async feed(options: PageOptions = {}): Promise<Page<Post>> {
    const { body } = await this.#http.request("GET", "/feed", paged(options));
    return check(pageOf(post), body, "GET /feed");
  }

  /**
   * Uploads an image; its key goes into `imageKeys`. Scope: any but `read`. Repeating it does no harm:
   * what is attached to nothing is gone after an hour.
   */
  async upload(image: ImageSource, options: { signal?: AbortSignal } = {}): Promise<Upload> {
    const form =
      "url" in image
        ? image
        : {
            dataBase64: Buffer.from(image.data).toString("base64"),
            contentType: image.contentType,
          };
    const { body } = await this.#http.request("POST", "/uploads", { ...options, body: form });
    return check(upload, body, "POST /uploads");
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

  /** Makes a post. Scope: `posts:write`. Not repeated on failure. */
  async create(
    outgoing: OutgoingMessage,
    options: { signal?: AbortSignal } = {},
  ): Promise<SentPost> {
    const { body } = await this.#http.request("POST", "/posts", { ...options, body: outgoing });
    return check(sentPost, body, "POST /posts");
  }

  /** A page of a post's comments. Scope: `read`. Order and paging are not documented. */
  async comments(postId: string, options: PageOptions = {}): Promise<Page<Comment>> {
    const path = commentsPath(postId);
    const { body } = await this.#http.request("GET", path, paged(options));
    return check(pageOf(post), body, `GET ${path}`);
  }

  /** Comments on a post. Scope: `comments:write`. Not repeated on failure. */
  async comment(
    postId: string,
    outgoing: OutgoingMessage,
    options: { signal?: AbortSignal } = {},
  ): Promise<SentComment> {
    const path = commentsPath(postId);
    const { body } = await this.#http.request("POST", path, { ...options, body: outgoing });
    return check(sentPost, body, `POST ${path}`);
  }
}

function paged(options: PageOptions): RequestOptions {
  const { limit, cursor, signal } = options;
  return { query: { limit, cursor }, signal };
}
