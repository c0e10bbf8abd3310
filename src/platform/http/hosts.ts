import type { RequestHandler } from "express";
import { hostCheck } from "../../core/hosts.ts";
import { PlatformError } from "../error.ts";

/** Refuses requests for other hosts than this machine and `allowed`. */
export function knownHostsOnly(allowed: readonly string[]): RequestHandler {
  const isOurs = hostCheck(allowed);
  return (request, _response, next) => {
    if (!isOurs(request)) {
      throw new PlatformError(
        403,
        "FORBIDDEN",
        "The local platform answers only to 127.0.0.1, localhost, [::1] and the address of this machine that it listens on. For another name start it with --allow-host NAME.",
      );
    }
    next();
  };
}
