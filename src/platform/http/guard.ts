import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { PlatformError } from "../error.ts";
import { isJson } from "./body.ts";

/** The media type of a snapshot's file. */
export const SQLITE_TYPE = "application/vnd.sqlite3";

/** The one path that takes the bytes of an image. */
const IMAGES = "/images";

/** The names by which this machine calls itself, with any port. */
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

/**
 * Refuses requests for other hosts. A web page can point a name of its own at this machine, and then
 * the browser would let it read the answers (DNS rebinding); the Host header gives it away.
 */
export const loopbackHostOnly: RequestHandler = (request, _response, next) => {
  if (LOOPBACK_HOST.test(request.headers.host ?? "")) {
    next();
    return;
  }
  throw new PlatformError(
    403,
    "FORBIDDEN",
    "The local platform answers only to 127.0.0.1, localhost and [::1].",
  );
};

/**
 * Refuses what other web pages can make a browser send. The control API has no token; what keeps
 * pages out is their Origin, and that they cannot send these types elsewhere without asking first.
 */
export const sameOriginOnly: RequestHandler = (request, _response, next) => {
  const { origin, host } = request.headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase()) {
    throw new PlatformError(403, "FORBIDDEN", "The control API is not for other web pages.");
  }
  const reads = request.method === "GET" || request.method === "HEAD";
  const ofImage = request.path === IMAGES && isImage(request);
  if (!reads && !isJson(request) && !isSqlite(request) && !ofImage) {
    throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", "Send Content-Type: application/json.");
  }
  next();
};

/** True when the request says that its body is a SQLite file. */
export function isSqlite({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.toLowerCase() === SQLITE_TYPE;
}

/** True when the request says that its body is an image. */
function isImage({ headers }: IncomingMessage): boolean {
  return /^image\/[\w.+-]+$/i.test(headers["content-type"] ?? "");
}
