import type { Fetch } from "../client/transport.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { imageKindOf, mediaTypeOf } from "../core/image-kind.ts";
import { CLOCK, FUNCTION } from "../core/kinds.ts";
import { type OptionTable, readFields, readOptions, requireKind } from "../core/option-checks.ts";
import { isPublicHost } from "../core/public-host.ts";
import type { AnyEvent } from "../events/types.ts";
import { PlatformError } from "../platform/error.ts";
import { createPlatform, type Platform } from "../platform/platform.ts";
import { Refusals, type RefuseOptions } from "./refusals.ts";
import { HAPPENING, type Happening, Scene, TYPED_ACT, type TypedAct } from "./scene.ts";

/** A request to the platform. */
export interface RecordedCall {
  /** HTTP method. */
  readonly method: string;
  /** Path below `/api/v1`, as sent. */
  readonly path: string;
  /** Parameters after the question mark. */
  readonly query: Readonly<Record<string, string>>;
  /** Parsed JSON or a form. `undefined` if there is no body. */
  readonly body: unknown;
}

/** Text, images or both. */
interface Content {
  /** Empty if there are only images. */
  readonly text: string;
  /** Absent if there are no images. */
  readonly imageKeys?: readonly string[];
}

/** A message, comment or post by the bot. */
export type SentByBot =
  | ({
      /** A direct message. */
      readonly kind: "dm";
      /** Conversation of the message. */
      readonly conversationId: string;
    } & Content)
  | ({
      /** A comment on a post. */
      readonly kind: "comment";
      /** Post of the comment. */
      readonly postId: string;
    } & Content)
  | ({
      /** A post. */
      readonly kind: "post";
    } & Content);

/** An image that a bot uploaded, as bytes or as a URL for the platform to fetch. */
export interface UploadedByBot {
  /** Key that the platform returned, for `imageKeys`. */
  readonly key: string;
  /** Absent if the image is a URL. */
  readonly bytes?: Uint8Array;
  /** Media type of the bytes, such as `image/png`. Absent if the image is a URL. */
  readonly contentType?: string;
  /** URL for the platform to fetch. Absent if the image is bytes. */
  readonly url?: string;
}

/** One-pixel image that every URL serves, so that no test needs the network. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Names below `.test` are reserved, so no server can exist there. */
export const ORIGIN = "http://platform.test";

/** Options for a {@link TestPlatform}. */
export interface TestPlatformOptions {
  /** Source of time. Default: this machine's clock. */
  readonly clock?: Clock;
}

const PLATFORM_OPTIONS: OptionTable<TestPlatformOptions> = { clock: CLOCK };

/**
 * The local platform in the test's process, without a port. It records the bot's calls, creates events for the test,
 * and can be made to refuse calls. Pass its `fetch` to a client.
 *
 *     const platform = new TestPlatform();
 *     const client = new Client({ baseUrl: "http://platform.test", apiKey: "x", fetch: platform.fetch });
 *
 * It accepts any token and has no limits. Every image URL serves a one-pixel image.
 */
export class TestPlatform {
  readonly #platform: Platform;
  readonly #scene: Scene;
  readonly #refusals = new Refusals();
  readonly #calls: RecordedCall[] = [];
  readonly #sent: SentByBot[] = [];
  readonly #uploads: (UploadedByBot | undefined)[] = [];

  /**
   * Creates an empty platform, which accepts any token.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: TestPlatformOptions = {}) {
    const { clock = systemClock } = readOptions(options, PLATFORM_OPTIONS);
    this.#platform = createPlatform(
      { clock, url: ORIGIN },
      { download, makeThumbnail: async () => undefined },
    );
    this.#scene = new Scene(this.#platform.control);
  }

  /** Messages, comments and posts that the bot wrote, in order. */
  get sent(): readonly SentByBot[] {
    return this.#sent;
  }

  /** All requests in order, including refused ones. */
  get calls(): readonly RecordedCall[] {
    return this.#calls;
  }

  /** Images that the bot uploaded, in the order of the requests. */
  get uploads(): readonly UploadedByBot[] {
    return this.#uploads.filter((upload) => upload !== undefined);
  }

  /**
   * Adds an event to the log. Creates its user, conversation and message, or its post and comment, with the names in
   * the event. A repeated id has no effect.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  happen(event: Happening): void {
    this.#scene.play(readFields(event, HAPPENING, "event."));
  }

  /**
   * Performs a user's action. Returns the events that the platform creates for the bot. A comment that mentions the bot
   * creates two. Excerpts are truncated as usual.
   *
   *     platform.act({ type: "dm.message", from: "ada", text: "hi" });
   *
   * @param nextId returns the id of each event. Default: the platform's id
   * @throws {PlatformError} if the platform refuses the action
   * @throws {ServiceBotError} INVALID_OPTION
   */
  act(given: TypedAct, nextId?: () => string): readonly AnyEvent[] {
    const act = readOptions(given, TYPED_ACT, "act.");
    if (nextId !== undefined) requireKind("nextId", nextId, FUNCTION);
    const isFirst = !this.#sent.some(({ kind }) => kind === "comment");
    // Comment on another account's post, because a reply below the bot's own post is also a comment event.
    if (act.type === "reply" && act.commentId === undefined && isFirst) this.#scene.commentAsBot();
    return this.#scene.act(act, nextId);
  }

  /**
   * Refuses the next calls that the platform can refuse with this code (section 7 of the platform document): one call,
   * or `times` calls. With `method` or `path`, refuses only matching calls. A refused call has no effect.
   *
   *     platform.refuse({ code: "BLOCKED" });
   *     platform.refuse({ code: "QUOTA_EXCEEDED", path: "/uploads", retryAfterSeconds: 60, times: 2 });
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  refuse(options: RefuseOptions): void {
    this.#refusals.add(options);
  }

  /** Responds to a request as the platform would. Pass this function to a client or a bot. */
  readonly fetch: Fetch = async (url, init) => {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.replace("/api/v1", "");
    const { method = "GET" } = init;
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    const call = { method, path, query: Object.fromEntries(searchParams), body: body ?? undefined };
    this.#calls.push(call);
    const uploadNumber = path === "/uploads" ? this.#uploads.push(undefined) : 0;
    const refused = this.#refusals.take(method, path);
    if (refused !== undefined) return refused;
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.#platform.apiKey}`);
    const response = await this.#platform.fetch(this.#scene.toPlatform(url), { ...init, headers });
    const json = this.#scene.toTest(await response.text());
    if (response.ok && uploadNumber > 0) {
      const { key }: { readonly key: string } = JSON.parse(json);
      this.#uploads[uploadNumber - 1] = { key, ...(await imageIn(body)) };
    } else if (response.ok && method === "POST") this.#sent.push(toSentByBot(call));
    return new Response(json, response);
  };

  /** Closes the platform. */
  async close(): Promise<void> {
    await this.#platform.stop();
  }
}

/** @throws {PlatformError} 400 BLOCKED_HOST */
async function download(address: string): Promise<Uint8Array> {
  const url = URL.parse(address);
  if (url?.protocol === "https:" && isPublicHost(url.hostname)) return PIXEL;
  throw new PlatformError(400, "BLOCKED_HOST", "The URL is not a public https URL.");
}

function toSentByBot({ path, body }: RecordedCall): SentByBot {
  const { text = "", imageKeys = [] }: Partial<Content> = { ...Object(body) };
  const content = imageKeys.length === 0 ? { text } : { text, imageKeys };
  const [, list, id = ""] = /^\/(dm\/conversations|posts)\/([^/]+)/.exec(path) ?? [];
  const name = decodeURIComponent(id);
  if (list === undefined) return { kind: "post", ...content };
  return list === "posts"
    ? { kind: "comment", postId: name, ...content }
    : { kind: "dm", conversationId: name, ...content };
}

async function imageIn(body: unknown): Promise<Omit<UploadedByBot, "key">> {
  const { url, dataBase64 }: { url?: string; dataBase64?: string } = { ...Object(body) };
  if (url !== undefined) return { url };
  const file = body instanceof FormData ? body.get("file") : undefined;
  const bytes =
    file instanceof Blob
      ? new Uint8Array(await file.arrayBuffer())
      : Buffer.from(dataBase64 ?? "", "base64");
  const kind = imageKindOf(bytes);
  return kind === undefined ? { bytes } : { bytes, contentType: mediaTypeOf(kind) };
}
