import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Describes a problem of the platform's address, as the end of a sentence that begins with its name; `undefined` if valid.
 * The address may have a path, because a platform may share its host. A password in it is never repeated.
 */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "must be an http(s) address such as https://platform.example";
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user or a password";
  if (/[?#]/.test(text)) return "must not contain a query or a fragment";
  if (/\/api\/v\d+$/.test(withoutSlash(url.pathname))) {
    return "must not contain /api/v1";
  }
  return undefined;
}

/** Writes the platform's address without a slash at its end. */
export function normalizeAddress(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${withoutSlash(pathname)}`;
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/** Describes a problem of a bearer token without repeating it. A missing variable would go out as "undefined". */
export function tokenProblem(text: string): string | undefined {
  return typeof text === "string" && /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : "must be visible ASCII characters without spaces";
}

/**
 * Returns whether a token sent to `origin` crosses a network unencrypted: plain http to another machine. A private
 * network, such as that of Compose, counts too.
 */
export function isSentInClear(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.protocol === "http:" && !isLoopback(url.hostname);
}

/** Returns whether a name or an address stands for this machine alone. No name is looked up. */
export function isLoopback(host: string): boolean {
  const name = normalHost(host);
  return name === "localhost" || (isIP(name) !== 0 && ipaddr.parse(name).range() === "loopback");
}

/** Spells each name and address in one way, without brackets. */
export function normalHost(host: string): string {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return isIP(name) === 0 ? name : ipaddr.process(name).toString();
}

/** Writes a host as a URL does: an IPv6 address in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Names by which this machine calls itself. */
export const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

/** A name or an address with any port, because a port may be forwarded. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const NAME = /^[a-z\d_]([\w.-]*[a-z\d_])?$/i;

/** Returns whether a text is a name or an address without scheme and port. */
export function isHostName(text: string): boolean {
  return NAME.test(text) || isIP(text) === 6;
}

/**
 * Makes the check whether a request is for this server. A web page can point a name of its own at this machine, and then
 * the browser would let it read the answers (DNS rebinding); the Host header reveals the name. Accepted are loopback
 * names, the address that the request has come to, which no name can stand for, and `allowed`.
 */
export function hostCheck(allowed: readonly string[]): (request: IncomingMessage) => boolean {
  const names = new Set([...loopbackNames, ...allowed.map(normalHost)]);
  return (request) => {
    const name = hostOf(request);
    return name !== undefined && (names.has(name) || name === addressOf(request));
  };
}

/** Returns the host that a request names; `undefined` if it names none, several, or an invalid one. */
function hostOf({ headersDistinct, url = "" }: IncomingMessage): string | undefined {
  const [host = "", ...more] = headersDistinct.host ?? [];
  const [, name] = HOST.exec(host) ?? [];
  if (name === undefined || more.length > 0) return undefined;
  // A whole address in the request line takes precedence (RFC 9112, section 3.2.2).
  if (!url.startsWith("/") && URL.parse(url)?.host !== host.toLowerCase()) return undefined;
  return normalHost(name);
}

/** Returns the address of this machine that a request has come to. */
function addressOf({ socket }: IncomingMessage): string {
  return normalHost((socket.localAddress ?? "").replace(/%.*$/, ""));
}

/** Names for this machine, or for a host of the local network. */
const localNames =
  /(^|\.)(localhost|localdomain6?|local|internal|lan|intranet|corp|home|home\.arpa)$/;

/** Public addresses that clouds use for services inside. */
const insideClouds: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Returns whether a host is of the public internet, as far as its name or address alone shows. No name is looked up.
 *
 * @param hostname as a `URL` writes it: every spelling of an IPv4 address has become four numbers
 */
export function isPublicHost(hostname: string): boolean {
  const address = literalIn(hostname);
  return address === undefined ? isPublicName(hostname) : isPublicAddress(address);
}

/** Returns an address without brackets and final dot; `undefined` for a name. */
export function literalIn(hostname: string): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");
  return isIP(text) === 0 ? undefined : text;
}

/** Returns false for names without a dot, and for names that are reserved for local networks. */
export function isPublicName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "").toLowerCase();
  return name.includes(".") && !localNames.test(name);
}

/** Returns whether a text is an IP address of the public internet. */
export function isPublicAddress(address: string): boolean {
  // An address with a zone is of a local network.
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv6 ? isPublic6(parsed) : !insideClouds.has(parsed.toString());
}

/**
 * Requires 2000::/3, the part of IPv6 that is assigned. Prefixes that embed an IPv4 address have a range of their own;
 * ISATAP (RFC 5214) embeds one behind any prefix.
 */
function isPublic6({ parts }: ipaddr.IPv6): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = parts;
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe;
  return (first & 0xe000) === 0x2000 && !isIsatap;
}
