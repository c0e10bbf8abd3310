import ipaddr from "ipaddr.js";
import { refuse } from "./refuse.ts";

/** Names that mean a host of the network that one is in. */
const localNames =
  /(^|\.)(localhost|localdomain|local|internal|lan|intranet|corp|home|home\.arpa)$/;

/**
 * Checks the address of an image that the platform is to fetch, by the rules of `POST /uploads`
 * (section 4 of the platform document) as far as the address alone tells. Names are not looked up.
 *
 * @returns the address in its normal spelling
 * @throws {ApiError} BLOCKED_HOST; the message shows neither credentials nor the query
 */
export function checkImageUrl(address: string | URL): string {
  const url = URL.parse(String(address));
  if (url === null) {
    return refuse("BLOCKED_HOST", "The address of the image is not a URL: give all of https://….");
  }
  if (url.protocol !== "https:") {
    refuse("BLOCKED_HOST", `The platform fetches images by https alone, not by ${url.protocol}//.`);
  }
  if (url.username !== "" || url.password !== "") {
    refuse(
      "BLOCKED_HOST",
      `The address of the image on ${url.host} has a user name or a password in it, which the platform ` +
        "would learn: fetch the image yourself and give its bytes.",
    );
  }
  if (!isPublic(url.hostname)) {
    refuse(
      "BLOCKED_HOST",
      `${url.host} is not on the public internet, and the platform fetches images from there alone: ` +
        "give the bytes of the image.",
    );
  }
  return url.href;
}

/** @param hostname as a `URL` writes it: every spelling of an IPv4 address has become four numbers */
function isPublic(hostname: string): boolean {
  if (hostname.startsWith("[")) return isPublicV6(ipaddr.IPv6.parse(hostname.slice(1, -1)));
  const name = hostname.replace(/\.+$/, "");
  if (ipaddr.IPv4.isValidFourPartDecimal(name))
    return ipaddr.IPv4.parse(name).range() === "unicast";
  return name.includes(".") && !localNames.test(name);
}

/** What the internet has given out so far is in 2000::/3; what embeds an IPv4 address has a range of its own. */
function isPublicV6(address: ipaddr.IPv6): boolean {
  return ((address.parts[0] ?? 0) & 0xe000) === 0x2000 && address.range() === "unicast";
}
