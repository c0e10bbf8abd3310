import * as z from "../../core/zod.ts";
import { PlatformError } from "../error.ts";
import { type Content, targetOf } from "../events/content.ts";
import { validate } from "../http/body.ts";
import { checkText, MAX_IMAGES } from "../input-rules.ts";
import type { Quota } from "../limits/settings.ts";
import { attachUploads } from "../store/images.ts";
import type { Call } from "./operation.ts";

/** A new post, comment or message. */
export interface Draft {
  /** Empty only if there are images. */
  readonly text: string;
  readonly imageKeys: readonly string[];
}

interface DraftBody {
  readonly text?: string | null | undefined;
  readonly imageKeys?: readonly string[] | null | undefined;
}

// Other fields pass, because the document does not show which ones posts and comments take.
const draftBody: z.ZodType<DraftBody> = z.object({
  text: z.string().nullish(),
  imageKeys: z.array(z.string()).nullish(),
});

/**
 * Reads the body of a new post, comment or message (section 4, "Attaching images"). Keys are checked when they are
 * consumed.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_MANY_IMAGES, EMPTY, TOO_LONG
 */
export function readDraft({ body }: Call): Draft {
  const given = validate(draftBody, body);
  const { text, imageKeys } = { text: given.text ?? "", imageKeys: given.imageKeys ?? [] };
  if (imageKeys.length > MAX_IMAGES) {
    throw new PlatformError(400, "TOO_MANY_IMAGES", `At most ${MAX_IMAGES} images are allowed.`);
  }
  checkText(text, { images: imageKeys.length });
  return { text, imageKeys };
}

/**
 * Makes content with its images, counts it, and publishes its events: all of that, or nothing.
 *
 * @throws {PlatformError} 429 QUOTA_EXCEEDED; 400 INVALID_IMAGE_KEY, with no key consumed
 */
export function write<Made extends Content>(
  { store, publisher, limits, bot, now }: Call,
  { imageKeys }: Draft,
  { quota, make }: { readonly quota: Quota; readonly make: () => Made },
): Made {
  const { result } = publisher.transaction((events) => {
    limits.take(bot.seq, quota);
    const made = make();
    const place = { ...targetOf(made), owner: bot.seq, now };
    attachUploads(store.images, imageKeys, place);
    events.content(made, { from: bot, at: now });
    return made;
  });
  return result;
}
