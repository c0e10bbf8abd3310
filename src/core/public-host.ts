import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Names that mean this machine, or a host of the network that one is in. */
const localNames =
  /(^|\.)(localhost|localdomain6?|local|internal|lan|intranet|corp|home|home\.arpa)$/;

/** Lent from the public internet by clouds, for services that only their own machines reach. */
const insideClouds: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * True for a host of the public internet, as far as its name or address alone tells: names are not looked up.
 *
 * @param hostname as a `URL` writes it: every spelling of an IPv4 address has become four numbers
 */
export function isPublicHost(hostname: string): boolean {
  const address = literalIn(hostname);
  return address === undefined ? isPublicName(hostname) : isPublicAddress(address);
}

/** The address that stands in place of a name, without brackets and a dot at its end; undefined for a name. */
export function literalIn(hostname: string): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "");
  return isIP(text) === 0 ? undefined : text;
}

/** False for names without a dot, and for those that are kept for local networks. */
export function isPublicName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "").toLowerCase();
  return name.includes(".") && !localNames.test(name);
}

/** True for an IP address, in text, of the public internet; false for everything else. */
export function isPublicAddress(address: string): boolean {
  // With a zone it is of a local network.
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv6 ? isPublic6(parsed) : !insideClouds.has(parsed.toString());
}

/**
 * What the internet has given out so far is in 2000::/3. What embeds an IPv4 address by its prefix has a
 * range of its own; ISATAP (RFC 5214) embeds one behind any prefix.
 */
function isPublic6({ parts }: ipaddr.IPv6): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = parts;
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe;
  return (first & 0xe000) === 0x2000 && !isIsatap;
}
