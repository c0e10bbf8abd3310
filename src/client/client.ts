import { ServiceBotError } from "../errors.ts";
import { Dms } from "./dms.ts";
import { Http } from "./http.ts";
import type { HttpOptions } from "./http-options.ts";
import { prepareImage } from "./images/prepare.ts";
import type { ImageInput } from "./images/source.ts";
import { checkLimit, type Listing } from "./listing.ts";
import { list, read, type UploadOptions, uploadImage } from "./operations.ts";
import { Posts } from "./posts.ts";
import { type LogPurpose, userPath } from "./request.ts";
import type { RequestsStatus } from "./request-limiter.ts";
import { check, eventPage, pageOf, post, profile, searchHit } from "./schemas.ts";
import type {
  CallOptions,
  EventPage,
  PageOptions,
  Post,
  Profile,
  SearchHit,
  SearchQuery,
  Upload,
} from "./types.ts";

/** How a client reaches the platform. */
export interface ClientOptions extends HttpOptions {}

/** People and bots. */
class Users {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * The profile of a user name, with or without its @. Scope: `read`. The fields are not documented.
   *
   * @throws {NotFoundError} NOT_FOUND
   */
  async get(username: string, options: CallOptions = {}): Promise<Profile> {
    return await read(this.#http, userPath(username.replace(/^@/, "")), profile, options);
  }
}

/**
 * The platform's API v1 (section 4 of the platform document), whole. It works on its own
 * (`service-bot/client`), and is `ctx.client` in a handler. Every method rejects with an `ApiError` of some family
 * for an answer that is not 2xx, a `NetworkError` when none came, and a `ServiceBotError` API_INVALID_RESPONSE
 * when it is not as documented; fields that are not documented pass through.
 */
export class Client {
  /** Direct messages. Scope: `dm`. */
  readonly dms: Dms;
  /** Posts and comments. */
  readonly posts: Posts;
  /** People and bots. */
  readonly users: Users;
  readonly #http: Http;
  #syncing: Promise<void> | undefined;

  /**
   * @param bot sender of what is published on channels
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: ClientOptions, bot?: object) {
    this.#http = new Http(options, bot);
    this.dms = new Dms(this.#http);
    this.posts = new Posts(this.#http);
    this.users = new Users(this.#http);
  }

  /** Deadline of one request, in milliseconds. */
  get timeoutMs(): number {
    return this.#http.timeoutMs;
  }

  /**
   * How long a request without a purpose can take, in milliseconds: its deadline, and five seconds of waiting
   * with a budget of requests.
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

  /** The platform's time in ms since 1970; undefined before its first answer. */
  platformNow(): number | undefined {
    return this.#http.platformNow();
  }

  /** @internal Divides `maxRequestsPerMinute` among so many instances of a bot, of which this client serves one. */
  divideBudget(instances: number): void {
    this.#http.divideBudget(instances);
  }

  /** Learns the platform's time, once, unless an answer has brought it. Any answer has a `Date`, even a refusal. */
  async syncClock(): Promise<void> {
    if (this.platformNow() !== undefined) return;
    this.#syncing ??= this.me().then(
      () => undefined,
      () => undefined,
    );
    await this.#syncing;
  }

  /** The bot's own profile. Fields beyond `username` are not documented, and not certain. */
  async me(options: CallOptions = {}): Promise<Profile> {
    return await read(this.#http, "/me", profile, options);
  }

  /**
   * A page of the event log, oldest first. Scope: `read` or `dm`, and only the events of that scope.
   *
   * @param query `since` is the cursor of the page before; empty it asks for the present, absent for
   *   the oldest event; `limit` is 1 to 50.
   * @param options with a `purpose` the request gives way to those of handlers, waits for the budget of
   *   requests as long as it takes, and is not tried again
   * @throws {ServiceBotError} INVALID_OPTION
   * @throws {AccessError} when the token has neither scope
   */
  async events(
    query: { since?: string | undefined; limit?: number | undefined } = {},
    options: CallOptions & { purpose?: LogPurpose } = {},
  ): Promise<EventPage> {
    checkLimit(query);
    const { body, date } = await this.#http.request("GET", "/events", { ...options, query });
    return { ...check(eventPage, body, "GET /events"), date };
  }

  /** The feed. Scope: `read`. Order, paging and whose posts are in it are not documented. */
  feed(options: PageOptions = {}): Listing<Post> {
    return list(this.#http, () => "/feed", pageOf(post), options);
  }

  /**
   * Searches. Scope: `read`. Neither parameters nor results are documented: `text` goes as `q`, other fields of
   * the query as they are, and of a hit no field is certain.
   */
  search({ text, ...others }: SearchQuery, options: PageOptions = {}): Listing<SearchHit> {
    return list(this.#http, () => "/search", pageOf(searchHit), options, { q: text, ...others });
  }

  /**
   * Uploads an image; its key goes into `imageKeys`. Scope: any but `read`. An address is fetched by the
   * platform, bytes are sent. An upload that is attached to nothing is deleted after an hour.
   *
   * @throws {ImageError} BLOCKED_HOST, NOT_IMAGE, TOO_LARGE
   * @throws {ContentError} VALIDATION unless it begins as an image of the five kinds
   * @throws {ServiceBotError} INVALID_OPTION if it cannot be read, or is a key
   * @throws {LimitError} QUOTA_EXCEEDED
   * @throws {UnavailableError} NOT_CONFIGURED
   */
  async upload(image: ImageInput, options: UploadOptions = {}): Promise<Upload> {
    const prepared = await this.#http.prepare(options.signal, (signal) =>
      prepareImage(image, signal),
    );
    if ("key" in prepared) {
      const message = "This is the key of an upload: attach it as it is.";
      throw new ServiceBotError("INVALID_OPTION", message);
    }
    return await uploadImage(this.#http, prepared, options);
  }
}
