import * as z from "../../core/zod.ts";
import { checkText, MAX_IMAGES } from "../content.ts";
import { PlatformError } from "../error.ts";
import { validate } from "../http/body.ts";

/** A new post, comment or message. */
export interface Draft {
  /** Empty only where there are images. */
  readonly text: string;
  readonly imageKeys: readonly string[];
}

interface DraftBody {
  readonly text?: string | null | undefined;
  readonly imageKeys?: readonly string[] | null | undefined;
}

// Other fields pass unseen: which ones posts and comments take is not shown.
const draftBody: z.ZodType<DraftBody> = z.object({
  text: z.string().nullish(),
  imageKeys: z.array(z.string()).nullish(),
});

/**
 * Reads the body of a new post, comment or message (section 4, "Attaching images"). Whether the keys
 * are valid shows when they are consumed.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_MANY_IMAGES, EMPTY, TOO_LONG
 */
export function readDraft(body: unknown): Draft {
  const given = validate(draftBody, body);
  const { text, imageKeys } = { text: given.text ?? "", imageKeys: given.imageKeys ?? [] };
  if (imageKeys.length > MAX_IMAGES) {
    throw new PlatformError(400, "TOO_MANY_IMAGES", `At most ${MAX_IMAGES} images are allowed.`);
  }
  checkText(text, { images: imageKeys.length });
  return { text, imageKeys };
}
