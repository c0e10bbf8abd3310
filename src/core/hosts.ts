import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The names by which this machine calls itself. */
export const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "::1"]);

/** A name or an address, and a port that may be any: somebody may forward another one here. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const NAME = /^[a-z\d_]([\w.-]*[a-z\d_])?$/i;

/** True for a name or an address without scheme and port. */
export function isHostName(text: string): boolean {
  return NAME.test(text) || isIP(text) === 6;
}

/** True for the address of a server that only this machine reaches. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === "loopback";
}

/**
 * Tells requests for this server from those for other hosts. A web page can point a name of its own at this machine,
 * and then the browser would let it read the answers (DNS rebinding); the Host header gives it away. Ours are loopback
 * names, the address that the request has come to, which no name can stand for, and `allowed`.
 */
export function hostCheck(allowed: readonly string[]): (request: IncomingMessage) => boolean {
  const names = new Set([...loopbackNames, ...allowed.map(normalHost)]);
  return (request) => {
    const name = hostOf(request);
    return name !== undefined && (names.has(name) || name === addressOf(request));
  };
}

/** The host that a request asks; undefined where it says none, several, or none that can be. */
function hostOf({ headersDistinct, url = "" }: IncomingMessage): string | undefined {
  const [host = "", ...more] = headersDistinct.host ?? [];
  const [, name] = HOST.exec(host) ?? [];
  if (name === undefined || more.length > 0) return undefined;
  // With the whole address in the request line, that is what counts (RFC 9112, section 3.2.2).
  if (!url.startsWith("/") && URL.parse(url)?.host !== host.toLowerCase()) return undefined;
  return normalHost(name);
}

/** The address of this machine that a request has come to. */
function addressOf({ socket }: IncomingMessage): string {
  return normalHost((socket.localAddress ?? "").replace(/%.*$/, ""));
}

/** One spelling for each name and address, without brackets. */
export function normalHost(host: string): string {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return isIP(name) === 0 ? name : ipaddr.process(name).toString();
}
