import { ServiceBotError } from "../errors.ts";
import type { RequestsStatus } from "./budget.ts";
import type { LogPurpose } from "./call.ts";
import { Dms } from "./dms.ts";
import type { Sharing } from "./gate.ts";
import { Http, type HttpOptions } from "./http.ts";
import { prepareImage } from "./images/prepare.ts";
import type { ImageInput } from "./images/source.ts";
import { checkLimit, type Listing } from "./listing.ts";
import { Posts } from "./posts.ts";
import { list, read } from "./reading.ts";
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
import { type UploadOptions, uploadImage } from "./upload.ts";
import { Users } from "./users.ts";

/** How a client reaches the platform. */
export interface ClientOptions extends HttpOptions {}

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
  #asked: Promise<void> | undefined;

  /**
   * @param sharing what it has together with the clients of other processes; a bot's own affair
   * @param bot sender of what is published on channels
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: ClientOptions, sharing?: Sharing, bot?: object) {
    this.#http = new Http(options, sharing, bot);
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
   * platform, bytes are sent. What is attached to nothing is gone after an hour.
   *
   * @throws {ImageError} BLOCKED_HOST, NOT_IMAGE, TOO_LARGE
   * @throws {ContentError} VALIDATION for what is no image of the five kinds
   * @throws {ServiceBotError} INVALID_OPTION for what cannot be read, or is a key
   * @throws {LimitError} QUOTA_EXCEEDED
   * @throws {UnavailableError} NOT_CONFIGURED
   */
  async upload(image: ImageInput, options: UploadOptions = {}): Promise<Upload> {
    const prepared = await this.#http.prepare(options.signal, (signal) =>
      prepareImage(image, { signal }),
    );
    if ("key" in prepared) {
      const message = "This is the key of an upload: attach it as it is.";
      throw new ServiceBotError("INVALID_OPTION", message);
    }
    return await uploadImage(this.#http, prepared, options);
  }
}
