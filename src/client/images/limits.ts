import { refuse } from "./refuse.ts";

/**
 * An image is at most so large, in bytes (section 8 of the platform document: "5 MB"). Read as 5 MiB:
 * between that and 5,000,000 the platform decides, for a local check must not refuse what it takes.
 */
export const MAX_IMAGE_BYTES = 5_242_880;

/** @throws {ApiError} TOO_LARGE */
export function tooLarge(what: string): never {
  return refuse(
    "TOO_LARGE",
    `${what} is larger than 5 MB (${MAX_IMAGE_BYTES} bytes): make the image smaller or compress it more.`,
  );
}
