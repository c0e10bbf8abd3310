import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Returns the problem with the platform's URL, worded to follow the setting's name in a sentence; `undefined` if valid.
 * A path is allowed because a platform may share its host. The problem never repeats a password.
 */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "must be an http(s) URL such as https://platform.example";
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user or a password";
  if (/[?#]/.test(text)) return "must not contain a query or a fragment";
  if (/\/api\/v\d+$/.test(withoutSlash(url.pathname))) {
    return "must not contain /api/v1";
  }
  return undefined;
}

/** Returns the platform's URL without trailing slashes. */
export function normalizeAddress(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${withoutSlash(pathname)}`;
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/**
 * Returns the problem with a bearer token, without repeating the token. The check also catches an unset variable that
 * was interpolated.
 */
export function tokenProblem(text: string): string | undefined {
  return typeof text === "string" && /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : "must be visible ASCII characters without spaces";
}

/**
 * Returns whether a token sent to `origin` crosses a network unencrypted: plain HTTP to another machine. Private
 * networks, such as those of Compose, count too.
 */
export function isSentInClear(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.protocol === "http:" && !isLoopback(url.hostname);
}

/** Returns whether a host name or address is loopback. Performs no DNS lookup. */
export function isLoopback(host: string): boolean {
  const name = normalHost(host);
  return name === "localhost" || (isIP(name) !== 0 && ipaddr.parse(name).range() === "loopback");
}

/** Normalizes a host so that every spelling of an address compares equal. Brackets are removed. */
export function normalHost(host: string): string {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return isIP(name) === 0 ? name : ipaddr.process(name).toString();
}

/** Formats a host for a URL, with brackets around an IPv6 address. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Loopback names that every server accepts in the Host header. */
export const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

/** A name or an address with any port. The port is not compared because a proxy may forward another one. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const NAME = /^[a-z\d_]([\w.-]*[a-z\d_])?$/i;

export function isHostName(text: string): boolean {
  return NAME.test(text) || isIP(text) === 6;
}

/**
 * Creates a check that rejects requests meant for another host, against DNS rebinding. A web page can point its own
 * host name at this machine and then read the responses, but the Host header reveals that name.
 *
 * Accepts loopback names, the connection's local address (no name can imitate an address), and `allowed`.
 */
export function hostCheck(allowed: readonly string[]): (request: IncomingMessage) => boolean {
  const names = new Set([...loopbackNames, ...allowed.map(normalHost)]);
  return (request) => {
    const name = hostOf(request);
    return name !== undefined && (names.has(name) || name === addressOf(request));
  };
}

/** Returns the host named by a request; `undefined` if the request names none, several, or an invalid one. */
function hostOf({ headersDistinct, url = "" }: IncomingMessage): string | undefined {
  const [host = "", ...more] = headersDistinct.host ?? [];
  const [, name] = HOST.exec(host) ?? [];
  if (name === undefined || more.length > 0) return undefined;
  // An absolute URL in the request line takes precedence over Host (RFC 9112, section 3.2.2).
  if (!url.startsWith("/") && URL.parse(url)?.host !== host.toLowerCase()) return undefined;
  return normalHost(name);
}

/** Returns the local address that a request arrived at. */
function addressOf({ socket }: IncomingMessage): string {
  return normalHost((socket.localAddress ?? "").replace(/%.*$/, ""));
}

/** Names for this machine or for hosts on a local network. */
const localNames =
  /(^|\.)(localhost|localdomain6?|local|internal|lan|intranet|corp|home|home\.arpa)$/;

/** Public addresses that cloud providers use for internal services. */
const insideClouds: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Returns whether a host is on the public internet, judged by its name or address alone. Performs no DNS lookup.
 *
 * @param hostname as `URL` writes it, with every IPv4 address in dotted decimal
 */
export function isPublicHost(hostname: string): boolean {
  const address = literalIn(hostname);
  return address === undefined ? isPublicName(hostname) : isPublicAddress(address);
}

/** Returns an IP address without brackets or trailing dots; `undefined` if the host is a name. */
export function literalIn(hostname: string): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");
  return isIP(text) === 0 ? undefined : text;
}

/** Returns false for names without a dot and for names reserved for local networks. */
export function isPublicName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "").toLowerCase();
  return name.includes(".") && !localNames.test(name);
}

/** Returns whether a text is a public IP address. */
export function isPublicAddress(address: string): boolean {
  // An address with a zone is link-local.
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv6 ? isPublic6(parsed) : !insideClouds.has(parsed.toString());
}

/**
 * Requires 2000::/3, the assigned part of IPv6. Prefixes that embed an IPv4 address are other ranges, except ISATAP
 * (RFC 5214), which embeds one after any prefix.
 */
function isPublic6({ parts }: ipaddr.IPv6): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = parts;
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe;
  return (first & 0xe000) === 0x2000 && !isIsatap;
}
