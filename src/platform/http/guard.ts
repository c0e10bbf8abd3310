import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { PlatformError } from "../error.ts";
import { isJson } from "./body.ts";

/** The media type of a snapshot's file. */
export const SQLITE_TYPE = "application/vnd.sqlite3";

/** The one path that takes the bytes of an image. */
const IMAGES = "/images";

/**
 * Refuses what other web pages can make a browser send: what keeps them out, besides the token, is their Origin,
 * and that they cannot send these types elsewhere without asking first.
 */
export const sameOriginOnly: RequestHandler = (request, response, next) => {
  const { origin, host } = request.headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase()) {
    throw new PlatformError(403, "FORBIDDEN", "The control API is not for other web pages.");
  }
  const ofImage = request.path === IMAGES && isImage(request);
  if (!isRead(request) && !isJson(request) && !isSqlite(request) && !ofImage) {
    throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", "Send Content-Type: application/json.");
  }
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  next();
};

/** True for a request that changes nothing. */
export function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** True when the request says that its body is a SQLite file. */
export function isSqlite({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.toLowerCase() === SQLITE_TYPE;
}

/** True when the request says that its body is an image. */
function isImage({ headers }: IncomingMessage): boolean {
  return /^image\/[\w.+-]+$/i.test(headers["content-type"] ?? "");
}
