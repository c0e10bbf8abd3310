import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import {
  addressOf,
  hostCheck,
  hostOf,
  isLoopbackAddress,
  loopbackNames,
} from "../../core/hosts.ts";
import { PlatformError } from "../error.ts";

/** What a proxy writes into a request that it passes on. */
const PASSED_ON = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

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

/**
 * True for a request that has not left this machine: it came over loopback, for a loopback name, and no proxy has
 * passed it on.
 */
export function isLocal(request: IncomingMessage): boolean {
  const { remoteAddress = "" } = request.socket;
  return (
    loopbackNames.has(hostOf(request) ?? "") &&
    isLoopbackAddress(addressOf(request)) &&
    isLoopbackAddress(remoteAddress) &&
    !PASSED_ON.some((name) => name in request.headers)
  );
}
