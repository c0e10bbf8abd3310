import { createHash, timingSafeEqual } from "node:crypto";
import type * as z from "../../core/zod.ts";
import { notFound, PlatformError } from "../error.ts";
import { type Answer, jsonAnswer } from "../http/answer.ts";
import { type BodyLimit, isJson, readJson, validate } from "../http/body.ts";
import { limit, type PageInput, text } from "../http/query.ts";
import { type Incoming, type Route, Routes } from "../http/routes.ts";
import type { Timeline } from "../timeline/timeline.ts";

/** The media type of a snapshot's file. */
export const SQLITE_TYPE = "application/vnd.sqlite3";

/** The one path that takes the bytes of an image. */
const IMAGES = "/images";

/** The one path whose token may stand in the query, because an EventSource sends no headers of its own. */
const STREAM = "/stream";

/** A request to the control API. */
export interface Call {
  readonly incoming: Incoming;
  readonly request: Request;
  readonly query: URLSearchParams;
  /** The parameter of the path; empty if the path has none. */
  readonly id: string;
  /** Username of the bot whose app is meant; `undefined` for the first one. */
  readonly bot: string | undefined;
}

/** One operation of the control API. */
export interface Endpoint extends Route {
  readonly answer: (call: Call) => Promise<Answer>;
}

/** Answers what is below `/control/v1`. */
export class ControlApi {
  readonly #routes: Routes<Endpoint>;
  readonly #timeline: Timeline;
  readonly #token: Buffer;

  constructor(endpoints: readonly Endpoint[], timeline: Timeline, token: string) {
    this.#routes = new Routes(endpoints);
    this.#timeline = timeline;
    this.#token = digest(token);
  }

  /** @throws {PlatformError} */
  async answer(incoming: Incoming): Promise<Answer> {
    this.#requireToken(incoming);
    requireSameOrigin(incoming);
    const { request, method, path, url } = incoming;
    const found = this.#routes.find(method, path);
    if (found === undefined) throw notFound("endpoint");
    const { route, id } = found;
    const query = url.searchParams;
    const answer = await route.answer({ incoming, request, query, id, bot: text(query, "bot") });
    // Readers of the stream look again, because a change may have no entry, such as a deleted message.
    if (!isRead(incoming)) this.#timeline.change();
    const headers = { ...answer.headers, "cross-origin-resource-policy": "same-origin" };
    return { ...answer, headers };
  }

  /**
   * Refuses every request without the control token, wherever it comes from. Neither its address nor its Host shows that
   * it is local, because a reverse proxy on this machine sends the requests of strangers over loopback.
   *
   * @throws {PlatformError} 401 UNAUTHORIZED
   */
  #requireToken({ request, path, url }: Incoming): void {
    const [inQuery, ...more] = path === STREAM ? url.searchParams.getAll("token") : [];
    const given = request.headers.get("x-control-token") ?? inQuery;
    if (given === undefined || more.length > 0) {
      throw unauthorized(
        "The control API needs the control token of this run: send it as X-Control-Token, or open the portal at the address that the platform printed when it started.",
      );
    }
    if (!timingSafeEqual(digest(given), this.#token)) {
      throw unauthorized(
        "The control token is not that of this run. Was the platform started again? Open the address that it printed, or take the token from there.",
      );
    }
  }
}

/**
 * Refuses what other web pages can make a browser send. Besides the token, their Origin keeps them out, and they cannot
 * send these types elsewhere without asking first.
 *
 * @throws {PlatformError} 403 FORBIDDEN; 415 UNSUPPORTED_MEDIA_TYPE
 */
function requireSameOrigin(incoming: Incoming): void {
  const { request, path, url } = incoming;
  const origin = request.headers.get("origin");
  if (origin !== null && origin.toLowerCase() !== `http://${url.host}`) {
    throw new PlatformError(403, "FORBIDDEN", "The control API is not for other web pages.");
  }
  const type = request.headers.get("content-type") ?? "";
  const isImage = path === IMAGES && /^image\/[\w.+-]+$/i.test(type);
  if (isRead(incoming) || isJson(request) || isSqlite(request) || isImage) return;
  throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", "Send Content-Type: application/json.");
}

/** Returns whether a request changes nothing. */
function isRead({ method }: Incoming): boolean {
  return method === "GET" || method === "HEAD";
}

/** Returns whether the request announces a SQLite file. */
export function isSqlite({ headers }: Request): boolean {
  return headers.get("content-type")?.toLowerCase() === SQLITE_TYPE;
}

function unauthorized(message: string): PlatformError {
  return new PlatformError(401, "UNAUTHORIZED", message);
}

/** Makes the comparison one of equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Returns the body of an answer in JSON. */
type Handler = (call: Call) => unknown;
type BodyHandler<T> = (body: T, call: Call) => unknown;

interface Options {
  /** Default 201. */
  readonly status?: number;
  readonly limit?: BodyLimit;
}

export function get(path: string, handle: Handler): Endpoint {
  return inJson("GET", path, 200, handle);
}

/** A GET whose answer is no JSON. */
export function getRaw(path: string, answer: (call: Call) => Answer): Endpoint {
  return { method: "GET", path, answer: async (call) => answer(call) };
}

/** Named like this because `delete` is a keyword. */
export function remove(path: string, handle: Handler): Endpoint {
  return inJson("DELETE", path, 200, handle);
}

export function put<T>(path: string, schema: z.ZodType<T>, handle: BodyHandler<T>): Endpoint {
  return inJson("PUT", path, 200, reading(schema, handle));
}

export function post<T>(
  path: string,
  schema: z.ZodType<T>,
  handle: BodyHandler<T>,
  { status = 201, limit: bodyLimit }: Options = {},
): Endpoint {
  return inJson("POST", path, status, reading(schema, handle, bodyLimit));
}

/** A POST whose body is no JSON. */
export function postRaw(path: string, handle: Handler): Endpoint {
  return inJson("POST", path, 201, handle);
}

/** Reads `limit` and `cursor`. */
export function pageIn({ query }: Call): PageInput {
  return { limit: limit(query), cursor: text(query, "cursor") };
}

function inJson(method: Route["method"], path: string, status: number, handle: Handler): Endpoint {
  const answer = async (call: Call) => jsonAnswer(status, JSON.stringify(await handle(call)));
  return { method, path, answer };
}

function reading<T>(schema: z.ZodType<T>, handle: BodyHandler<T>, bodyLimit?: BodyLimit): Handler {
  return async (call) => handle(validate(schema, await readJson(call.request, bodyLimit)), call);
}
