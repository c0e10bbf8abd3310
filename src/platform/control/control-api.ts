import { isSameSecret } from "../../core/secrets.ts";
import { notFound, PlatformError } from "../error.ts";
import type { Answer } from "../http/answer.ts";
import { isJson } from "../http/body.ts";
import { type Incoming, type Route, Routes } from "../http/routes.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { routes } from "./routes.ts";

export const SQLITE_TYPE = "application/vnd.sqlite3";

export interface Call {
  readonly incoming: Incoming;
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly id: string;
}

export interface Endpoint extends Route {
  readonly answer: (call: Call) => Promise<Answer>;
}

export class ControlApi {
  readonly #routes: Routes<Endpoint>;
  readonly #timeline: Timeline;
  readonly #token: string;

  constructor(endpoints: readonly Endpoint[], timeline: Timeline, token: string) {
    this.#routes = new Routes(endpoints);
    this.#timeline = timeline;
    this.#token = token;
  }

  async answer(incoming: Incoming): Promise<Answer> {
    this.#requireToken(incoming);
    requireSameOrigin(incoming);
    const { request, method, path, url } = incoming;
    const found = this.#routes.find(method, path);
    if (found === undefined) throw notFound("endpoint");
    const { route, id } = found;
    const query = url.searchParams;
    const answer = await route.answer({ incoming, request, query, id });
    // Notify stream readers, because some changes, such as a deleted message, add no entry.
    if (!isRead(incoming)) this.#timeline.change();
    const headers = { ...answer.headers, "cross-origin-resource-policy": "same-origin" };
    return { ...answer, headers };
  }

  /**
   * Rejects every request without the control token. The client's address and `Host` prove nothing, because a reverse
   * proxy on this machine forwards requests from other machines over loopback.
   *
   * @throws {PlatformError} 401 UNAUTHORIZED
   */
  #requireToken({ request, path, url }: Incoming): void {
    // An EventSource cannot send headers.
    const [inQuery, ...more] = path === routes.stream.path ? url.searchParams.getAll("token") : [];
    const given = request.headers.get("x-control-token") ?? inQuery;
    if (given === undefined || more.length > 0) {
      throw unauthorized(
        "The control token is missing. Send it as X-Control-Token, or open the portal at the URL that the platform printed on startup.",
      );
    }
    if (!isSameSecret(given, this.#token)) {
      throw unauthorized(
        "The control token is wrong. If the platform has restarted, open the URL that it printed.",
      );
    }
  }
}

/**
 * Rejects requests that another website makes the user's browser send, in addition to the token check. Such requests
 * carry the other site's Origin, and a browser sends these content types to another origin only after a preflight.
 *
 * @throws {PlatformError} 403 FORBIDDEN; 415 UNSUPPORTED_MEDIA_TYPE
 */
function requireSameOrigin(incoming: Incoming): void {
  const { request, path, url } = incoming;
  const origin = request.headers.get("origin");
  if (origin !== null && origin.toLowerCase() !== `http://${url.host}`) {
    throw new PlatformError(
      403,
      "FORBIDDEN",
      "The control API refuses requests from other web pages.",
    );
  }
  const type = request.headers.get("content-type") ?? "";
  const isImage = path === routes.addImage.path && /^image\/[\w.+-]+$/i.test(type);
  if (isRead(incoming) || isJson(request) || isSqlite(request) || isImage) return;
  throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", "Send Content-Type: application/json.");
}

function isRead({ method }: Incoming): boolean {
  return method === "GET" || method === "HEAD";
}

export function isSqlite({ headers }: Request): boolean {
  return headers.get("content-type")?.toLowerCase() === SQLITE_TYPE;
}

function unauthorized(message: string): PlatformError {
  return new PlatformError(401, "UNAUTHORIZED", message);
}
