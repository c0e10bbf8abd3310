import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { tryRead } from "../errors.ts";
import { readTarget } from "./request-target.ts";
import { trimEndOf } from "./text.ts";

/**
 * Describes why a platform URL is invalid, worded to follow the setting's name in a sentence. Returns `undefined` for a
 * valid URL. A path is allowed, because the platform may share its host with other services. The description never
 * contains a password.
 */
export function addressProblem(text: string): string | undefined {
  // A JavaScript caller may pass a value that has no text.
  const url = tryRead(() => URL.parse(text)) ?? null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "must be an http(s) URL such as https://platform.example";
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user or a password";
  if (/[?#]/.test(text)) return "must not contain a query or a fragment";
  if (/\/api\/v\d+$/.test(trimEndOf(url.pathname, "/"))) {
    return "must not contain /api/v1";
  }
  return undefined;
}

export function normalizeAddress(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${trimEndOf(pathname, "/")}`;
}

/** Describes why a bearer token is invalid, without repeating the token. Returns `undefined` for a valid token. */
export function tokenProblem(text: string): string | undefined {
  return typeof text === "string" && /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : "must consist of visible ASCII characters, without spaces";
}

/**
 * Returns whether a token sent to `origin` would cross a network unencrypted, which is the case for plain HTTP to
 * another machine. Private networks count too, such as a Compose network.
 */
export function isSentInClear(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.protocol === "http:" && !isLoopback(url.hostname);
}

/** Returns whether a host name or address is a loopback address. Performs no DNS lookup. */
export function isLoopback(host: string): boolean {
  const name = normalHost(host);
  return name === "localhost" || (isIP(name) !== 0 && ipaddr.parse(name).range() === "loopback");
}

/** Normalizes a host, so that all spellings of an address compare equal, and removes brackets. */
export function normalHost(host: string): string {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return isIP(name) === 0 ? name : ipaddr.process(name).toString();
}

export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Loopback names that every server accepts in the Host header. */
export const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

/** Matches a Host header. The port is ignored, because a proxy may forward a different port. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const NAME = /^[a-z\d_]([\w.-]*[a-z\d_])?$/i;

export function isHostName(text: string): boolean {
  return NAME.test(text) || isIP(text) === 6;
}

/**
 * Creates a check against DNS rebinding, in which a web page points its own host name at this machine to read the
 * responses. The Host header of such a request contains that host name, so the check rejects it.
 *
 * The check accepts loopback names, the connection's local address (which no host name can imitate), and the `allowed`
 * hosts.
 */
export function hostCheck(allowed: readonly string[]): (request: IncomingMessage) => boolean {
  const names = new Set([...loopbackNames, ...allowed.map(normalHost)]);
  return (request) => {
    const address = addressOf(request);
    return hostsOf(request).every((host) => {
      const [, name] = HOST.exec(host) ?? [];
      return name !== undefined && (names.has(normalHost(name)) || normalHost(name) === address);
    });
  };
}

/**
 * Returns the hosts that a request names. An absolute URL in the request line takes precedence over the Host header
 * (RFC 9112, section 3.2.2), but not every program on the way knows that, so both must be acceptable.
 */
function hostsOf({ headersDistinct, url = "" }: IncomingMessage): readonly string[] {
  const { host: headers = [] } = headersDistinct;
  const { authority } = readTarget(url);
  // A request has exactly one Host header.
  const host = headers.length === 1 ? headers : [""];
  return authority === undefined ? host : [...host, authority];
}

function addressOf({ socket }: IncomingMessage): string {
  const [address = ""] = socket.localAddress?.split("%", 1) ?? [];
  return normalHost(address);
}
