import { createHash, timingSafeEqual } from "node:crypto";
import { PlatformError } from "../error.ts";
import { isJson } from "../http/body.ts";
import type { Incoming } from "../http/routes.ts";

/** The media type of a snapshot's file. */
export const SQLITE_TYPE = "application/vnd.sqlite3";

/** The one path that takes the bytes of an image. */
const IMAGES = "/images";

/** The one path whose token may stand in the query, because an EventSource sends no headers of its own. */
const STREAM = "/stream";

/**
 * Refuses every request without the control token, wherever it comes from. Neither its address nor its Host shows that
 * it is local, because a reverse proxy on this machine sends the requests of strangers over loopback.
 *
 * @throws {PlatformError} 401 UNAUTHORIZED
 */
export function requireControlToken(token: string, { request, path, url }: Incoming): void {
  const [inQuery, ...more] = path === STREAM ? url.searchParams.getAll("token") : [];
  const given = request.headers.get("x-control-token") ?? inQuery;
  if (given === undefined || more.length > 0) {
    throw unauthorized(
      "The control API needs the control token of this run: send it as X-Control-Token, or open the portal at the address that the platform printed when it started.",
    );
  }
  if (!timingSafeEqual(digest(given), digest(token))) {
    throw unauthorized(
      "The control token is not that of this run. Was the platform started again? Open the address that it printed, or take the token from there.",
    );
  }
}

/**
 * Refuses what other web pages can make a browser send. Besides the token, their Origin keeps them out, and they cannot
 * send these types elsewhere without asking first.
 *
 * @throws {PlatformError} 403 FORBIDDEN; 415 UNSUPPORTED_MEDIA_TYPE
 */
export function requireSameOrigin(incoming: Incoming): void {
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
export function isRead({ method }: Incoming): boolean {
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
