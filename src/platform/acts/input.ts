import * as z from "zod";
import { tryRead } from "../../errors.ts";
import type { AnyEvent, EventType } from "../../events/types.ts";
import { invalid } from "../error.ts";
import { checkText, MAX_IMAGES, OWN_TYPE } from "../input-rules.ts";
import type { Created } from "../timeline/entries.ts";

/** Action type. Each type except `post` writes an event of the same name (section 6 of the platform document). */
export type ActType = EventType | "post";

/** An action by a user or a bot. */
export interface ActInput {
  /**
   * Action type, or a custom event type: any other name of lowercase letters, digits, dots, dashes and underscores.
   * Custom types are allowed because the platform may add types (section 9 of the platform document).
   */
  readonly type: ActType | (string & Record<never, never>);
  /** Username of the acting account, with or without `@`. An unknown user is created. A bot cannot act on itself. */
  readonly from: string;
  /**
   * Username of the target bot. Default: the bot that owns the named post, comment or conversation, otherwise the first
   * bot.
   */
  readonly to?: string | undefined;
  /** Up to 4,000 characters. Default: a sample text. May be empty if there are images. */
  readonly text?: string | undefined;
  /** Number of sample images to attach, 0 to 4. Default 0. */
  readonly images?: number | undefined;
  /**
   * Keys of images that the same account has uploaded (`POST /control/v1/images`). Each key can be used only once.
   * `images` and `imageKeys` together may add at most 4 images.
   */
  readonly imageKeys?: readonly string[] | undefined;
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
  readonly commentId?: string | undefined;
  /** Payload of a custom event, sent unchanged. Default `{}`. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /** Number of times to perform the action, 1 to 1000. Default 1. */
  readonly count?: number | undefined;
}

const optionalText = z.string().optional();

export const actInput: z.ZodType<ActInput> = z
  .strictObject({
    type: z.string(),
    from: z.string(),
    to: optionalText,
    text: optionalText,
    images: z.number().optional(),
    imageKeys: z.array(z.string()).optional(),
    conversationId: optionalText,
    postId: optionalText,
    commentId: optionalText,
    payload: z.record(z.string(), z.unknown()).optional(),
    count: z.number().optional(),
  })
  // The platform sends a payload as JSON.
  .refine(
    ({ payload }) => tryRead(() => JSON.stringify({ payload })) !== undefined,
    "payload must be JSON",
  );

/** Result of an action: the events sent to all bots, and the ids of the content that the last repetition created. */
export interface ActResult extends Created {
  readonly events: readonly AnyEvent[];
}

/** All repetitions run in one transaction, which blocks the platform. */
export const MAX_COUNT = 1000;

const allDetails = [
  "to",
  "text",
  "images",
  "imageKeys",
  "conversationId",
  "postId",
  "commentId",
  "payload",
] as const;
type Detail = (typeof allDetails)[number];

/** Fields that each type allows in addition to `type`, `from` and `count`. */
const details: { readonly [T in ActType]: readonly Detail[] } = {
  post: ["text", "images", "imageKeys"],
  "dm.message": ["to", "text", "images", "imageKeys", "conversationId"],
  mention: ["to", "text", "images", "imageKeys", "postId"],
  comment: ["to", "text", "images", "imageKeys", "postId"],
  reply: ["to", "text", "images", "imageKeys", "commentId"],
  follow: ["to"],
  like: ["to", "postId", "commentId"],
  repost: ["to", "postId"],
  quote: ["to", "text", "images", "imageKeys", "postId"],
};

export function isActType(type: string): type is ActType {
  return Object.hasOwn(details, type);
}

/**
 * Rejects invalid input and fields that do not apply to the type, because a caller could mistake an ignored field for
 * an accepted one.
 *
 * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
 */
export function checkAct(input: ActInput): void {
  const { type } = input;
  if (!isActType(type) && !OWN_TYPE.test(type)) {
    const known = Object.keys(details).join(", ");
    throw invalid(
      `type must be one of ${known}, or a custom name of a-z, 0-9, dots, dashes and underscores`,
    );
  }
  const taken: readonly Detail[] = isActType(type) ? details[type] : ["to", "payload"];
  for (const detail of allDetails) {
    if (input[detail] === undefined || taken.includes(detail)) continue;
    throw invalid(`${detail} does not apply to ${type}; fields: ${taken.join(", ")}`);
  }
  if (input.postId !== undefined && input.commentId !== undefined) {
    throw invalid("pass either postId or commentId, not both");
  }
  const { images = 0, imageKeys = [], count = 1 } = input;
  if (!Number.isInteger(images) || images < 0 || images > MAX_IMAGES) {
    throw invalid(`images must be a whole number from 0 to ${MAX_IMAGES}`);
  }
  if (images + imageKeys.length > MAX_IMAGES) {
    throw invalid(`images and imageKeys must add up to at most ${MAX_IMAGES}`);
  }
  if (imageKeys.length > 0 && count !== 1) {
    throw invalid("count must be 1 with imageKeys, because each key can be used only once");
  }
  if (input.text !== undefined) checkText(input.text, { images: images + imageKeys.length });
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
    throw invalid(`count must be a whole number from 1 to ${MAX_COUNT}`);
  }
}
