import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { RequestHandler } from "express";
import ipaddr from "ipaddr.js";
import { PlatformError } from "../error.ts";

/** The names by which this machine calls itself. */
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

/** A name or an address, and a port that may be any: somebody may forward another one here. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** What a proxy writes into a request that it passes on. */
const PASSED_ON = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/** True for the address of a server that only this machine reaches. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === "loopback";
}

/**
 * Refuses requests for other hosts. A web page can point a name of its own at this machine, and then the browser
 * would let it read the answers (DNS rebinding); the Host header gives it away. Answered are loopback names, the
 * address that the request has come to, which no name can stand for, and `allowed`.
 */
export function knownHostsOnly(allowed: readonly string[]): RequestHandler {
  const names = new Set([...LOOPBACK_NAMES, ...allowed.map(normal)]);
  return (request, _response, next) => {
    const name = hostOf(request);
    if (name === undefined || !(names.has(name) || name === addressOf(request))) {
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
    LOOPBACK_NAMES.has(hostOf(request) ?? "") &&
    isLoopbackAddress(addressOf(request)) &&
    isLoopbackAddress(remoteAddress) &&
    !PASSED_ON.some((name) => name in request.headers)
  );
}

/** The host that a request asks; undefined where it says none, several, or none that can be. */
function hostOf({ headersDistinct, url = "" }: IncomingMessage): string | undefined {
  const [host = "", ...more] = headersDistinct.host ?? [];
  const [, name] = HOST.exec(host) ?? [];
  if (name === undefined || more.length > 0) return undefined;
  // With the whole address in the request line, that is what counts (RFC 9112, section 3.2.2).
  if (!url.startsWith("/") && URL.parse(url)?.host !== host.toLowerCase()) return undefined;
  return normal(name);
}

/** The address of this machine that a request has come to. */
function addressOf({ socket }: IncomingMessage): string {
  return normal((socket.localAddress ?? "").replace(/%.*$/, ""));
}

/** One spelling for each name and address. */
function normal(host: string): string {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return isIP(name) === 0 ? name : ipaddr.process(name).toString();
}
