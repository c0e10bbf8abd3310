import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler } from "express";
import { PlatformError } from "../error.ts";

/** The one path whose token may stand in the query: an EventSource sends no headers of its own. */
const STREAM = "/stream";

/**
 * Refuses every request without the control token with 401, wherever it comes from. Neither its address nor its Host
 * shows that it is local: a reverse proxy on this machine sends the requests of strangers over loopback.
 */
export function requireControlToken(token: string): RequestHandler {
  const expected = digest(token);
  return (request, _response, next) => {
    const given = tokenOf(request);
    if (given === undefined) {
      throw unauthorized(
        "The control API needs the control token of this run: send it as X-Control-Token, or open the portal at the address that the platform printed when it started.",
      );
    }
    if (!timingSafeEqual(digest(given), expected)) {
      throw unauthorized(
        "The control token is not that of this run. Was the platform started again? Open the address that it printed, or take the token from there.",
      );
    }
    next();
  };
}

function unauthorized(message: string): PlatformError {
  return new PlatformError(401, "UNAUTHORIZED", message);
}

/** Makes the comparison one of equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function tokenOf(request: Request): string | undefined {
  const header = request.headers["x-control-token"];
  if (typeof header === "string") return header;
  const { token } = request.query;
  return request.path === STREAM && typeof token === "string" ? token : undefined;
}
