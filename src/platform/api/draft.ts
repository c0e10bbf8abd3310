import { z } from "zod";
import { checkText } from "../content.ts";
import { PlatformError } from "../error.ts";
import { validate } from "../http/body.ts";

/** Images per content (section 8). */
const MAX_IMAGES = 4;

interface Draft {
  readonly text?: string | null | undefined;
  readonly imageKeys?: readonly string[] | null | undefined;
}

// Other fields pass unseen: which ones posts and comments take is not shown.
const draft: z.ZodType<Draft> = z.object({
  text: z.string().nullish(),
  imageKeys: z.array(z.string()).nullish(),
});

/**
 * Reads the body of a new post, comment or message (section 4, "Attaching images").
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_MANY_IMAGES, INVALID_IMAGE_KEY, EMPTY, TOO_LONG
 */
export function readText(body: unknown): string {
  const { text, imageKeys } = validate(draft, body);
  const keys = imageKeys ?? [];
  if (keys.length > MAX_IMAGES) {
    throw new PlatformError(400, "TOO_MANY_IMAGES", `At most ${MAX_IMAGES} images are allowed.`);
  }
  if (keys.length > 0) {
    throw new PlatformError(400, "INVALID_IMAGE_KEY", "An image key is not valid.");
  }
  checkText(text ?? "");
  return text ?? "";
}
