import type { Fetch } from "../client/http-options.ts";
import { failure, notFound, Refusal, success } from "./fake-answers.ts";
import { FakeLog, type Happening } from "./fake-log.ts";
import { FakeRefusals, type RefuseOptions } from "./fake-refusals.ts";
import { FakeUploads, type UploadedByBot } from "./fake-uploads.ts";
import { FakeWorld, postView, type SentByBot } from "./fake-world.ts";

/** A request to the platform. */
export interface RecordedCall {
  readonly method: string;
  /** Below `/api/v1`, as it was sent. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** What was JSON, or a form; undefined without a body. */
  readonly body: unknown;
}

/** A request that a route answers. */
interface Asked {
  /** The part of the path that stands for an id or a name. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

type Route = (asked: Asked) => unknown;

/**
 * The platform's API v1 in memory, all 13 operations of it: it takes what the bot says and remembers it, and refuses
 * what the platform document says is refused. It stands in for `fetch`; no request leaves the process.
 *
 *     const platform = new FakePlatform();
 *     const client = new Client({ baseUrl: "http://platform.test", apiKey: "x", fetch: platform.fetch });
 *
 * It knows neither tokens nor limits, and fetches no image; {@link refuse} makes it refuse for any reason.
 */
export class FakePlatform {
  readonly #calls: RecordedCall[] = [];
  readonly #world: FakeWorld;
  readonly #uploads: FakeUploads;
  readonly #log: FakeLog;
  readonly #refusals = new FakeRefusals();

  /** @param now the time, in milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.#world = new FakeWorld(now);
    this.#uploads = new FakeUploads(now);
    this.#log = new FakeLog(now);
  }

  /** Everything the bot has said, in order. */
  get sent(): readonly SentByBot[] {
    return this.#world.sent;
  }

  /** Every request, in order, those that were refused among them. */
  get calls(): readonly RecordedCall[] {
    return this.#calls;
  }

  /** Every image that the bot has uploaded, in the order in which the requests came, as their keys are numbered. */
  get uploads(): readonly UploadedByBot[] {
    return this.#uploads.taken;
  }

  /**
   * Tells the platform of an event: from then on it is in the log, and there are the person, the conversation with the
   * message, the post with the comment. In other conversations the bot has no part. The same id again changes nothing.
   */
  happen(event: Happening): void {
    const happened = this.#log.add(event);
    if (happened !== undefined) this.#world.happen(happened);
  }

  /**
   * Refuses the next call, or the next `times`, that can be answered with this code (section 7 of the platform
   * document); with `method` or `path`, the next such call, whatever it is. What is refused has no effect.
   *
   *     platform.refuse({ code: "BLOCKED" });
   *     platform.refuse({ code: "QUOTA_EXCEEDED", path: "/uploads", retryAfterSeconds: 60, times: 2 });
   */
  refuse(options: RefuseOptions): void {
    this.#refusals.add(options);
  }

  /** Give this to the client or the bot as its `fetch`. */
  readonly fetch: Fetch = async (url, init) => {
    const { pathname, searchParams: query } = new URL(url);
    const path = pathname.replace("/api/v1", "");
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    const method = init.method ?? "GET";
    this.#calls.push({ method, path, query: Object.fromEntries(query), body: body ?? undefined });
    const { shape, id } = placeOf(path);
    const route = this.#routes[`${method} ${shape}`];
    try {
      this.#refusals.check({ method, path, shape });
      if (route === undefined) throw notFound("address");
      const answer = await route({ id, query, body });
      return success(method === "POST" && shape !== "/uploads" ? 201 : 200, answer);
    } catch (error) {
      if (error instanceof Refusal) return failure(error);
      throw error;
    }
  };

  readonly #routes: Readonly<Record<string, Route>> = {
    "GET /me": () => this.#world.bot,
    "GET /feed": ({ query }) => this.#world.feed(query),
    "GET /search": ({ query }) => this.#world.search(query),
    "GET /users/*": ({ id }) => this.#world.person(id) ?? refuse("person"),
    "GET /posts/*": ({ id }) => this.#world.post(id) ?? refuse("post"),
    "GET /posts/*/comments": ({ id, query }) => this.#world.comments(id, query),
    "POST /posts": ({ body }) =>
      postView(this.#world.say({ kind: "post", ...this.#content(body) })),
    "POST /posts/*/comments": ({ id, body }) =>
      postView(this.#world.say({ kind: "comment", postId: id, ...this.#content(body) })),
    "GET /dm/conversations": ({ query }) => this.#world.conversations(query),
    "GET /dm/conversations/*/messages": ({ id, query }) =>
      this.#world.messages(this.#conversation(id), query),
    "POST /dm/conversations/*/messages": ({ id, body }) => this.#send(this.#conversation(id), body),
    "GET /events": ({ query }) => this.#log.page(query),
    "POST /uploads": ({ body }) => this.#uploads.take(body),
  };

  #send(conversationId: string, body: unknown): unknown {
    const said = { kind: "dm", conversationId, ...this.#content(body) } as const;
    const { id, createdAt } = this.#world.say(said);
    return { id, conversationId, createdAt };
  }

  #conversation(id: string): string {
    return this.#world.hasConversation(id) ? id : refuse("conversation");
  }

  /** The rules of "Attaching images" (section 4). */
  #content(body: unknown): { readonly text: string; readonly imageKeys?: readonly string[] } {
    const { text = "", imageKeys }: Readonly<Record<string, unknown>> = { ...Object(body) };
    if (typeof text !== "string") throw new Refusal(400, "VALIDATION", "text must be a string.");
    const keys = this.#uploads.consume(imageKeys);
    if (text === "" && keys.length === 0) {
      throw new Refusal(400, "EMPTY", "There is neither text nor image.");
    }
    return keys.length === 0 ? { text } : { text, imageKeys: keys };
  }
}

function refuse(what: string): never {
  throw notFound(what);
}

/** `/dm/conversations/c_1/messages` is `/dm/conversations/*` + `/messages` with the id `c_1`. */
function placeOf(path: string): { readonly shape: string; readonly id: string } {
  const [, before = path, id = "", after = ""] =
    /^(\/dm\/conversations|\/posts|\/users)\/([^/]+)(\/\w+)?$/.exec(path) ?? [];
  return { shape: id === "" ? before : `${before}/*${after}`, id: decodeURIComponent(id) };
}
