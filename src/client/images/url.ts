import { isPublicHost } from "../../core/addresses.ts";
import { refuse } from "./rules.ts";

/**
 * Checks the address of an image that the platform is to fetch, without a look-up of its name.
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
  if (!isPublicHost(url.hostname)) {
    refuse(
      "BLOCKED_HOST",
      `${url.host} is not on the public internet, and the platform fetches images from there alone: ` +
        "give the bytes of the image.",
    );
  }
  return url.href;
}
