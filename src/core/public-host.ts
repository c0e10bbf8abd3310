import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { trimEndOf } from "./text.ts";

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
