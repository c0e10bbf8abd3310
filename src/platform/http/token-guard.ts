import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Request, RequestHandler } from "express";
import { PlatformError } from "../error.ts";
import { isLocal } from "./hosts.ts";

/** The one path whose token may stand in the query: an EventSource sends no headers of its own. */
const STREAM = "/stream";

/** A token for the portal of this run; made of what stands in an address as it is. */
export function newPortalToken(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Asks for the token of this run where a browser has made the request, or where it comes from elsewhere. Other
 * programs on this machine need none: they could read the state file just as well.
 */
export function portalTokenOnly(token: string): RequestHandler {
  const expected = digest(token);
  return (request, _response, next) => {
    if (isLocal(request) && !isOfBrowser(request)) {
      next();
      return;
    }
    const given = tokenOf(request);
    if (given === undefined) {
      throw new PlatformError(
        403,
        "FORBIDDEN",
        "Browsers and other machines need the token of this run: open the portal at the address that the platform printed when it started, or send that token as X-Portal-Token.",
      );
    }
    if (!timingSafeEqual(digest(given), expected)) {
      throw new PlatformError(
        403,
        "FORBIDDEN",
        "The token is not that of this run. Was the platform started again? Reload the page, or open the address that it printed.",
      );
    }
    next();
  };
}

/** Of equal length for the comparison, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function tokenOf(request: Request): string | undefined {
  const header = request.headers["x-portal-token"];
  if (typeof header === "string") return header;
  const { token } = request.query;
  return request.path === STREAM && typeof token === "string" ? token : undefined;
}

/** Node's own fetch says `Sec-Fetch-Mode: cors` and nothing else; a browser that says it says the site, too. */
function isOfBrowser({ headers }: IncomingMessage): boolean {
  const { origin, "sec-fetch-site": site, "sec-fetch-mode": mode = "cors" } = headers;
  return origin !== undefined || site !== undefined || mode !== "cors";
}
