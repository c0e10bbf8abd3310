import type * as z from "../core/zod.ts";
import { ApiError, apiErrorOf } from "./errors.ts";
import { type ClientOptions, Http } from "./http.ts";
import { type Listing, list } from "./listing.ts";
import { type LogPurpose, resolvePath } from "./request.ts";
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
  sentMessage,
  sentPost,
  type Upload,
} from "./resources.ts";

/** Direct messages: reply-only, in conversations that a user began. Scope: `dm`. */
class Dms {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The bot's conversations that have received messages, newest first. */
  conversations(options: PageOptions = {}): Listing<Conversation> {
    return list(this.#http, "/dm/conversations", documentedPageOf(conversation), options);
  }

  /**
   * The messages of a conversation, newest first.
   *
   * @throws {NotFoundError} NOT_FOUND when the bot takes no part in it
   */
  messages(conversationId: string, options: PageOptions = {}): Listing<Message> {
    return list(this.#http, MESSAGES, documentedPageOf(message), options, { id: conversationId });
  }

  /**
   * Sends a message: text, images or both. Tried again only if it is certain that it was not sent.
   *
   * @throws {ContentError} EMPTY, TOO_LONG, GROUP_UNSUPPORTED
   * @throws {ImageError} TOO_MANY_IMAGES, INVALID_IMAGE_KEY, and problems of an image
   * @throws {AccessError} BLOCKED, AGENT_SCOPE_MISSING
   * @throws {NotFoundError} NOT_FOUND
   * @throws {LimitError} QUOTA_EXCEEDED
   */
  async send(
    conversationId: string,
    outgoing: OutgoingMessage,
    options: CallOptions = {},
  ): Promise<SentMessage> {
    const target = { ...options, id: conversationId };
    const sent = await write(this.#http, MESSAGES, sentMessage, outgoing, target);
    return sent.conversationId === "" ? { ...sent, conversationId } : sent;
  }
}

/** Posts and their comments. */
class Posts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * A post. Scope: `read`.
   *
   * @throws {NotFoundError} NOT_FOUND
   */
  async get(postId: string, options: CallOptions = {}): Promise<Post> {
    return await read(this.#http, "/posts/{id}", post, { ...options, id: postId });
  }

  /**
   * Makes a post: text, images or both. Tried again only if it is certain that it was not made.
   * Scope: `posts:write`.
   *
   * @throws {ContentError} EMPTY, TOO_LONG
   * @throws {ImageError} TOO_MANY_IMAGES, INVALID_IMAGE_KEY, and problems of an image
   * @throws {AccessError} AGENT_SCOPE_MISSING
   */
  async create(outgoing: OutgoingMessage, options: CallOptions = {}): Promise<SentPost> {
    return await write(this.#http, "/posts", sentPost, outgoing, options);
  }

  /** The comments on a post. Scope: `read`. Their order is not documented. */
  comments(postId: string, options: PageOptions = {}): Listing<Comment> {
    return list(this.#http, COMMENTS, pageOf(post), options, { id: postId });
  }

  /** Comments on a post, as {@link create} makes one. Scope: `comments:write`. */
  async comment(
    postId: string,
    outgoing: OutgoingMessage,
    options: CallOptions = {},
  ): Promise<SentComment> {
    return await write(this.#http, COMMENTS, sentPost, outgoing, { ...options, id: postId });
  }
}

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
    const id = username.replace(/^@/, "");
    return await read(this.#http, "/users/{name}", profile, { ...options, id });
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
   * @param bot named in the messages of channels; the client itself by default
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: ClientOptions, bot?: object) {
    this.#http = new Http(options, bot ?? this);
    this.dms = new Dms(this.#http);
    this.posts = new Posts(this.#http);
    this.users = new Users(this.#http);
  }

  /**
   * How long a request without a purpose can take, in milliseconds: its deadline, and five seconds of waiting
   * with a budget of requests.
   */
  get longestCallMs(): number {
    const { timeoutMs, limiter } = this.#http;
    return timeoutMs + (limiter === undefined ? 0 : HANDLER_WAIT_MS);
  }

  /** How much of the budget of requests is left; undefined without `maxRequestsPerMinute`. */
  get requests(): RequestsStatus | undefined {
    return this.#http.limiter?.status;
  }

  /** How far the platform's clock is ahead of ours, in milliseconds, by the last answer. */
  get clockOffsetMs(): number {
    return this.#http.offsetMs;
  }

  /** The platform's time in ms since 1970; undefined before its first answer. */
  platformNow(): number | undefined {
    return this.#http.platformNow();
  }

  /** @internal The platform's time in ms since 1970; the bot's own before the first answer. */
  now(): number {
    return this.#http.now();
  }

  /** @internal Divides `maxRequestsPerMinute` among so many instances of a bot, of which this client serves one. */
  divideBudget(instances: number): void {
    this.#http.limiter?.divideBy(instances);
  }

  /** Asks for the platform's time once, unless an answer has had it. Any answer has a `Date`, even a refusal. */
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
    { signal, purpose }: CallOptions & { purpose?: LogPurpose } = {},
  ): Promise<EventPage> {
    const options = { signal, purpose, query };
    const { value, date } = await this.#http.request("GET", "/events", eventPage, options);
    return { ...value, date };
  }

  /** The feed. Scope: `read`. Order, paging and whose posts are in it are not documented. */
  feed(options: PageOptions = {}): Listing<Post> {
    return list(this.#http, "/feed", pageOf(post), options);
  }

  /**
   * Searches. Scope: `read`. Neither parameters nor results are documented: `text` goes as `q`, other fields of
   * the query as they are, and of a hit no field is certain.
   */
  search({ text, ...others }: SearchQuery, options: PageOptions = {}): Listing<SearchHit> {
    const query = { q: text, ...others };
    return list(this.#http, "/search", pageOf(searchHit), options, { query });
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
  async upload(image: ImageInput, options: CallOptions = {}): Promise<Upload> {
    const { uploadImage } = await import("./images.ts");
    return await uploadImage(this.#http, image, options);
  }
}

const MESSAGES = "/dm/conversations/{id}/messages";
const COMMENTS = "/posts/{id}/comments";

/** Maximum number of images of a post, comment or message (section 8 of the platform document). */
const MAX_IMAGES = 4;

/** The `{id}` of a path. */
interface Target extends CallOptions {
  readonly id?: string;
}

async function read<T>(
  http: Http,
  template: string,
  answer: z.ZodType<T>,
  { id, signal }: Target,
): Promise<T> {
  return (await http.request("GET", template, answer, { id, signal })).value;
}

/**
 * Writes text, images or both (section 4, "Attaching images"): checks, reads and uploads the images, then sends. If a key has
 * expired or was consumed meanwhile (INVALID_IMAGE_KEY), all images are uploaded again, once. A ready key of the caller may be
 * the invalid one, so nothing is uploaded again with it.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES and problems of an image, before anything is sent
 * @throws {ServiceBotError} INVALID_ID, before anything is sent
 */
async function write<T>(
  http: Http,
  template: string,
  answer: z.ZodType<T>,
  outgoing: OutgoingMessage,
  { id, signal }: Target,
): Promise<T> {
  // Checked here, because images are uploaded before the request is built.
  resolvePath(template, id);
  checkContent(outgoing);
  const { text, images = [], imageKeys = [] } = outgoing;
  const send = async (keys: readonly string[]) => {
    const json = { text, imageKeys: keys.length === 0 ? undefined : keys };
    return (await http.request("POST", template, answer, { id, signal, json })).value;
  };
  if (images.length === 0) return await send(imageKeys);
  // Loaded late, because many bots send no image.
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
 * Checks the rules of "Attaching images" in section 4. A text of spaces alone is a text; how long a text may be is not shown.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES, as the platform would answer
 */
function checkContent({ text = "", images = [], imageKeys = [] }: OutgoingMessage): void {
  const count = images.length + imageKeys.length;
  if (count > MAX_IMAGES) {
    const message = `At most ${MAX_IMAGES} images can be attached (got ${count}).`;
    throw apiErrorOf(message, { status: 400, platformCode: "TOO_MANY_IMAGES", local: true });
  }
  if (text === "" && count === 0) {
    const message = "The message is empty. Pass a text, an image, or both.";
    throw apiErrorOf(message, { status: 400, platformCode: "EMPTY", local: true });
  }
}
