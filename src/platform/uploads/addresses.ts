import { BlockList, isIP } from "node:net";

/** IPv4 networks that are not the public internet (IANA special-purpose registry, and multicast). */
const special4 = networks("ipv4", [
  ["0.0.0.0", 8], // this network; 0.0.0.0 reaches this machine
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // shared between providers and customers
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local, and the metadata of clouds
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
]);

/**
 * The public part of IPv6. Everything else stays out by that alone: loopback, unspecified, link-local,
 * private (fc00::/7), multicast, IPv4-mapped (::ffff:0:0/96) and NAT64 (64:ff9b::/96, 64:ff9b:1::/48).
 */
const public6 = networks("ipv6", [["2000::", 3]]);

const special6 = networks("ipv6", [
  ["2001::", 23], // protocol assignments; Teredo, which holds an IPv4 address
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, which holds an IPv4 address
  ["3fff::", 20], // documentation
]);

/** True for an IP address, in text, of the public internet; false for everything else. */
export function isPublicAddress(address: string): boolean {
  // With a zone it is of a local network.
  if (address.includes("%")) return false;
  const family = isIP(address);
  if (family === 4) return !special4.check(address, "ipv4");
  return family === 6 && public6.check(address, "ipv6") && !special6.check(address, "ipv6");
}

function networks(
  family: "ipv4" | "ipv6",
  list: readonly (readonly [address: string, bits: number])[],
): BlockList {
  const made = new BlockList();
  for (const [address, bits] of list) made.addSubnet(address, bits, family);
  return made;
}
