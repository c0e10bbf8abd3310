import { type ImageKind, imageKindOf } from "../../core/image-kind.ts";
import { type PlatformCode, ServiceBotError } from "../../errors.ts";
import { apiErrorOf } from "../errors.ts";

/**
 * Rules of section 4 of the platform document that can be checked before anything is sent. A refusal has the code that the
 * platform would have answered.
 */

/** Maximum number of images of a post, comment or message (section 8 of the platform document). */
const MAX_IMAGES = 4;

/**
 * In bytes (section 8: "5 MB"). Read as 5 MiB, because a local check must not refuse an image between 5,000,000
 * bytes and that which the platform takes.
 */
export const MAX_IMAGE_BYTES = 5_242_880;

/** Codes of section 7 of the platform document that are given without asking the platform. */
export type LocalCode = Extract<
  PlatformCode,
  "EMPTY" | "TOO_MANY_IMAGES" | "TOO_LARGE" | "VALIDATION" | "BLOCKED_HOST"
>;

/** Text and images of a post, comment or message, to be counted. */
export interface Content {
  readonly text?: string | undefined;
  readonly images?: readonly unknown[] | undefined;
  readonly imageKeys?: readonly unknown[] | undefined;
}

/**
 * Checks the rules of "Attaching images" in section 4. A text of spaces alone is a text; how long a text may be is not shown.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES
 */
export function checkContent({ text = "", images = [], imageKeys = [] }: Content): void {
  const count = images.length + imageKeys.length;
  if (count > MAX_IMAGES) {
    refuse("TOO_MANY_IMAGES", `At most ${MAX_IMAGES} images can be attached (got ${count}).`);
  }
  if (text === "" && count === 0) {
    refuse("EMPTY", "There is nothing to send: give a text, an image, or both.");
  }
}

/**
 * Checks the size and the kind of an image as `POST /uploads` does. The first bytes decide on the kind; the rest is for the
 * platform to validate.
 *
 * @param name names the image in messages, such as `"./cat.png"`
 * @throws {ApiError} TOO_LARGE, VALIDATION
 */
export function checkImage(bytes: Uint8Array, name = "The image"): ImageKind {
  if (bytes.length === 0) refuse("VALIDATION", `${name} is empty.`);
  if (bytes.length > MAX_IMAGE_BYTES) tooLarge(name);
  const kind = imageKindOf(bytes);
  if (kind !== undefined) return kind;
  return refuse("VALIDATION", `${name} does not begin as a PNG, JPEG, WebP, GIF or AVIF image.`);
}

/** @throws {ApiError} TOO_LARGE */
export function tooLarge(name: string): never {
  return refuse(
    "TOO_LARGE",
    `${name} is larger than 5 MB (${MAX_IMAGE_BYTES} bytes): make the image smaller or compress it more.`,
  );
}

/**
 * Refuses an image or a content before anything is sent.
 *
 * @param code code that the platform would have answered (with 400); undefined if it would never have been asked
 * @throws {ApiError} with that code, and `local` set
 * @throws {ServiceBotError} INVALID_OPTION without one
 */
export function refuse(
  code: LocalCode | undefined,
  message: string,
  options?: ErrorOptions,
): never {
  if (code === undefined) throw new ServiceBotError("INVALID_OPTION", message, options);
  throw apiErrorOf(message, { status: 400, platformCode: code, local: true, ...options });
}
