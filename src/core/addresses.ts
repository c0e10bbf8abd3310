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

/** Names of this machine, or of hosts on a local network. */
const localNames =
  /(^|\.)(localhost|localdomain6?|local|internal|lan|intranet|corp|home|home\.arpa)$/;

/** Public addresses that cloud providers use for internal services. */
const insideClouds: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Returns whether a host is on the public internet, judged by its name or address alone. Performs no DNS lookup.
 *
 * @param hostname as normalized by `URL`, which writes IPv4 addresses in dotted decimal
 */
export function isPublicHost(hostname: string): boolean {
  const address = literalIn(hostname);
  return address === undefined ? isPublicName(hostname) : isPublicAddress(address);
}

/** Returns the host's IP address without brackets or trailing dots, or `undefined` if the host is a name. */
export function literalIn(hostname: string): string | undefined {
  const text = trimEndOf(hostname.replace(/^\[(.*)\]$/, "$1"), ".");
  return isIP(text) === 0 ? undefined : text;
}

/** Returns false for names without a dot and for names reserved for local networks. */
export function isPublicName(hostname: string): boolean {
  const name = trimEndOf(hostname, ".").toLowerCase();
  return name.includes(".") && !localNames.test(name);
}

export function isPublicAddress(address: string): boolean {
  // An address with a zone is link-local.
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv6 ? isPublic6(parsed) : !insideClouds.has(parsed.toString());
}

/**
 * Accepts only 2000::/3, the assigned part of IPv6. Prefixes that embed an IPv4 address lie in other ranges, except
 * ISATAP (RFC 5214), which embeds an IPv4 address after any prefix.
 */
function isPublic6({ parts }: ipaddr.IPv6): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = parts;
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe;
  return (first & 0xe000) === 0x2000 && !isIsatap;
}
