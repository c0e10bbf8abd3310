import { refuse } from "./refuse.ts";

/** A post, comment or message has at most so many images (section 8 of the platform document). */
export const MAX_IMAGES = 4;

/** What is to be posted, as far as it is counted. */
export interface Content {
  readonly text?: string | undefined;
  readonly images?: readonly unknown[] | undefined;
  readonly imageKeys?: readonly unknown[] | undefined;
}

/**
 * The rules of "Attaching images" in section 4 of the platform document. Text of spaces alone is text:
 * what the platform makes of it is not shown, and neither is how long a text may be.
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
