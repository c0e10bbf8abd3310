import { copyFields, readOptions } from "../core/option-checks.ts";
import type { Shape } from "../core/shapes.ts";
import {
  CALL_OPTIONS,
  EVENTS_OPTIONS,
  EVENTS_QUERY,
  readOutgoing,
  readSearch,
} from "./arguments.ts";
import type { CircuitStatus } from "./breaker.ts";
import { ApiError, apiErrorOf } from "./errors.ts";
import { type ClientOptions, Http } from "./http.ts";
import { type Listing, list } from "./listing.ts";
import { checkId, type LogPurpose, resolvePath } from "./request.ts";
import { HANDLER_WAIT_MS, type RequestsStatus } from "./request-limiter.ts";
import {
  type CallOptions,
  type Comment,
  type Conversation,
  conversation,
  documentedPageOf,
  type EventPage,
  eventPage,
  type ImageInput,
  type Message,
  message,
  type OutgoingMessage,
  type PageOptions,
  type Post,
  type Profile,
  pageOf,
  post,
  profile,
  type SearchHit,
  type SearchQuery,
  type SentComment,
  type SentMessage,
  type SentPost,
  searchHit,
  sentMessageShape,
  sentPostShape,
  type Upload,
} from "./resources.ts";

/** Direct messages. A bot can only reply in conversations that a user started. Scope: `dm`. */
class Dms {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists the bot's conversations that have received messages, newest first. */
  conversations(options: PageOptions = {}): Listing<Conversation> {
    return list(this.#http, "/dm/conversations", documentedPageOf(conversation), options);
  }

  /**
   * Lists a conversation's messages, newest first.
   *
   * @throws {NotFoundError} NOT_FOUND if the bot is not in the conversation
   */
  messages(conversationId: string, options: PageOptions = {}): Listing<Message> {
    return list(this.#http, MESSAGES, documentedPageOf(message), options, { id: conversationId });
  }

  /**
   * Sends a message with text, images or both. The client retries only if the message was definitely not sent.
   *
   * @throws {ContentError} EMPTY, TOO_LONG, GROUP_UNSUPPORTED
   * @throws {ImageError} TOO_MANY_IMAGES, INVALID_IMAGE_KEY, and image problems
   * @throws {AccessError} BLOCKED, AGENT_SCOPE_MISSING
   * @throws {NotFoundError} NOT_FOUND
   * @throws {LimitError} QUOTA_EXCEEDED
   */
  async send(
    conversationId: string,
    outgoing: OutgoingMessage,
    options: CallOptions = {},
  ): Promise<SentMessage> {
    const target = { id: conversationId, options };
    const sent = await write(this.#http, MESSAGES, sentMessageShape, outgoing, target);
    return sent.conversationId === "" ? { ...sent, conversationId } : sent;
  }
}

/** Posts and their comments. */
class Posts {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Returns a post. Scope: `read`.
   *
   * @throws {NotFoundError} NOT_FOUND
   */
  async get(postId: string, options: CallOptions = {}): Promise<Post> {
    return await read(this.#http, "/posts/{id}", post, postId, options);
  }

  /**
   * Creates a post with text, images or both. The client retries only if the post was definitely not created. Scope:
   * `posts:write`.
   *
   * @throws {ContentError} EMPTY, TOO_LONG
   * @throws {ImageError} TOO_MANY_IMAGES, INVALID_IMAGE_KEY, and image problems
   * @throws {AccessError} AGENT_SCOPE_MISSING
   */
  async create(outgoing: OutgoingMessage, options: CallOptions = {}): Promise<SentPost> {
    return await write(this.#http, "/posts", sentPostShape, outgoing, { options });
  }

  /** Lists the comments on a post. Their order is not documented. Scope: `read`. */
  comments(postId: string, options: PageOptions = {}): Listing<Comment> {
    return list(this.#http, COMMENTS, pageOf(post), options, { id: postId });
  }

  /** Adds a comment to a post. Content, retries and errors work as in {@link create}. Scope: `comments:write`. */
  async comment(
    postId: string,
    outgoing: OutgoingMessage,
    options: CallOptions = {},
  ): Promise<SentComment> {
    return await write(this.#http, COMMENTS, sentPostShape, outgoing, { id: postId, options });
  }
}

/** Users and bots. */
class Users {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Returns a user's profile. The username may begin with @. The fields are not documented. Scope: `read`.
   *
   * @throws {NotFoundError} NOT_FOUND
   */
  async get(username: string, options: CallOptions = {}): Promise<Profile> {
    checkId("username", username);
    const id = username.replace(/^@/, "");
    return await read(this.#http, "/users/{name}", profile, id, options);
  }
}

/**
 * Client for the platform's API v1 (section 4 of the platform document). Use it on its own (`service-bot/client`), or
 * as `ctx.client` in a handler. Every method rejects with an `ApiError` if the response is not 2xx, and with a
 * `NetworkError` if there is no response. A response that does not match the document rejects with a `ServiceBotError`
 * whose code is API_INVALID_RESPONSE. Undocumented fields pass through.
 */
export class Client {
  /** Direct messages. Scope: `dm`. */
  readonly dms: Dms;
  /** Posts and comments. */
  readonly posts: Posts;
  /** Users and bots. */
  readonly users: Users;
  readonly #http: Http;
  #syncing: Promise<void> | undefined;

  /**
   * Creates a client. It sends nothing until a method is called.
   *
   * @param bot the bot object in channel messages; by default the client itself
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: ClientOptions, bot?: object) {
    this.#http = new Http(options, bot ?? this);
    this.dms = new Dms(this.#http);
    this.posts = new Posts(this.#http);
    this.users = new Users(this.#http);
  }

  /**
   * Longest time that a request without a purpose may take, in ms: its deadline plus, with a request budget, five
   * seconds of waiting.
   */
  get longestCallMs(): number {
    const { timeoutMs, limiter } = this.#http;
    return timeoutMs + (limiter === undefined ? 0 : HANDLER_WAIT_MS);
  }

  /** Remaining request budget, or `undefined` without `maxRequestsPerMinute`. */
  get requests(): RequestsStatus | undefined {
    return this.#http.limiter?.status;
  }

  /** Requests that the client holds back now. Empty if it would send any request. */
  get circuits(): readonly CircuitStatus[] {
    return this.#http.circuits;
  }

  /** How far the platform's clock was ahead of the client's clock at the last response, in ms. */
  get clockOffsetMs(): number {
    return this.#http.offsetMs;
  }

  /** Returns the platform's time in ms since 1970, or `undefined` before the first response. */
  platformNow(): number | undefined {
    return this.#http.platformNow();
  }

  /**
   * @internal Returns the platform's time in ms since 1970. Before the first response, returns the client's own time.
   */
  now(): number {
    return this.#http.now();
  }

  /**
   * @internal Divides `maxRequestsPerMinute` by the number of bot instances, because this client serves only one of
   *   them.
   */
  divideBudget(instances: number): void {
    this.#http.limiter?.divideBy(instances);
  }

  /**
   * Sends a request to learn the platform's time, unless an earlier response contained it. Every response has a `Date`
   * header, even an error.
   */
  async syncClock(): Promise<void> {
    if (this.platformNow() !== undefined) return;
    this.#syncing ??= this.me().then(
      () => undefined,
      () => undefined,
    );
    await this.#syncing;
  }

  /** Returns the bot's own profile. Fields other than `username` are not documented and may be missing. */
  async me(options: CallOptions = {}): Promise<Profile> {
    return await read(this.#http, "/me", profile, undefined, options);
  }

  /**
   * Returns a page of the event log, oldest first. Scope: `read` or `dm`. The page contains only events that the
   * token's scopes cover.
   *
   * @param query `since` is the cursor of the previous page. An empty `since` starts at the present; without `since`,
   *   the first page starts at the oldest event. `limit` is 1 to 50.
   * @param options A request with a `purpose` yields to handlers' requests. It waits for the request budget without a
   *   time limit, and is not retried.
   * @throws {ServiceBotError} INVALID_OPTION
   * @throws {AccessError} if the token has neither scope
   */
  async events(
    query: { since?: string | undefined; limit?: number | undefined } = {},
    options: CallOptions & { purpose?: LogPurpose } = {},
  ): Promise<EventPage> {
    const asked = {
      ...readOptions(options, EVENTS_OPTIONS),
      query: readOptions(copyFields("query", query), EVENTS_QUERY),
    };
    const { value, date } = await this.#http.request("GET", "/events", eventPage, asked);
    return { ...value, date };
  }

  /** Lists the posts in the feed. Their order, paging and selection are not documented. Scope: `read`. */
  feed(options: PageOptions = {}): Listing<Post> {
    return list(this.#http, "/feed", pageOf(post), options);
  }

  /**
   * Searches the platform. Neither the parameters nor the results are documented. `text` is sent as `q`, and other
   * query fields are sent unchanged. Every field of a hit may be missing. Scope: `read`.
   */
  search(query: SearchQuery, options: PageOptions = {}): Listing<SearchHit> {
    const { text, ...others } = readSearch(query);
    return list(this.#http, "/search", pageOf(searchHit), options, {
      query: { q: text, ...others },
    });
  }

  /**
   * Uploads an image and returns its key for `imageKeys`. For a URL, the platform itself downloads the image. The
   * platform deletes an upload after an hour unless it is attached. Scope: any except `read`.
   *
   * @throws {ImageError} BLOCKED_HOST, NOT_IMAGE, TOO_LARGE
   * @throws {ContentError} VALIDATION if the first bytes are not those of a supported image
   * @throws {ServiceBotError} INVALID_OPTION if the image cannot be read or is already an upload key
   * @throws {LimitError} QUOTA_EXCEEDED
   * @throws {UnavailableError} NOT_CONFIGURED
   */
  async upload(image: ImageInput, options: CallOptions = {}): Promise<Upload> {
    const { signal } = readOptions(options, CALL_OPTIONS);
    const { uploadImage } = await import("./images.ts");
    return await uploadImage(this.#http, image, signal);
  }
}

const MESSAGES = "/dm/conversations/{id}/messages";
const COMMENTS = "/posts/{id}/comments";

/** Maximum number of images in a post, comment or message (section 8 of the platform document). */
const MAX_IMAGES = 4;

interface Target {
  readonly id?: string;
  readonly options: CallOptions;
}

async function read<T>(
  http: Http,
  template: string,
  answer: Shape<T>,
  id: string | undefined,
  options: CallOptions,
): Promise<T> {
  const { signal } = readOptions(options, CALL_OPTIONS);
  return (await http.request("GET", template, answer, { id, signal })).value;
}

/**
 * Sends text, images or both (section 4 of the platform document, "Attaching images"), after checking, reading and
 * uploading the images. If a key expires or is consumed meanwhile (INVALID_IMAGE_KEY), all images are uploaded once
 * more. If the caller passed a key, there is no second upload, because the caller's key may be the invalid one.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES and image problems, before anything is sent
 * @throws {ServiceBotError} INVALID_ID, before anything is sent
 */
async function write<T>(
  http: Http,
  template: string,
  answer: Shape<T>,
  outgoing: OutgoingMessage,
  { id, options }: Target,
): Promise<T> {
  // Fail early, because the images are uploaded before the request is built.
  resolvePath(template, id);
  const { signal } = readOptions(options, CALL_OPTIONS);
  const message = readOutgoing(outgoing);
  checkContent(message);
  const { text, images = [], imageKeys = [] } = message;
  const send = async (keys: readonly string[]) => {
    const json = { text, imageKeys: keys.length === 0 ? undefined : keys };
    return (await http.request("POST", template, answer, { id, signal, json })).value;
  };
  if (images.length === 0) return await send(imageKeys);
  // Load lazily, because many bots never send images.
  const { prepareImages, uploadAll } = await import("./images.ts");
  const prepared = await prepareImages(http, images, signal);
  const upload = async () => [...imageKeys, ...(await uploadAll(http, prepared, signal))];
  try {
    return await send(await upload());
  } catch (error) {
    const isStaleKey = error instanceof ApiError && error.code === "INVALID_IMAGE_KEY";
    const hasOwnKey = imageKeys.length > 0 || prepared.some((image) => "key" in image);
    if (!isStaleKey || hasOwnKey) throw error;
    return await send(await upload());
  }
}

/**
 * Checks the rules in section 4 of the platform document, "Attaching images". A text that contains only spaces is
 * valid. The maximum length of a text is not documented.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES, as the platform would
 */
function checkContent({ text = "", images = [], imageKeys = [] }: OutgoingMessage): void {
  const count = images.length + imageKeys.length;
  if (count > MAX_IMAGES) {
    const message = `At most ${MAX_IMAGES} images can be attached (got ${count}).`;
    throw apiErrorOf(message, { status: 400, platformCode: "TOO_MANY_IMAGES", local: true });
  }
  if (text === "" && count === 0) {
    const message = "The message is empty. Pass text, images or both.";
    throw apiErrorOf(message, { status: 400, platformCode: "EMPTY", local: true });
  }
}
