import type { AnyEvent, EventType } from "../../events/types.ts";
import { invalid } from "../error.ts";
import { checkText, MAX_IMAGES } from "../input-rules.ts";
import type { Created } from "../timeline/entries.ts";

/** Types of acts: each makes an event of its name (section 6), or a post. */
export type ActType = EventType | "post";

/** Something that a person or a bot does. */
export interface ActInput {
  /**
   * Type of the act. Any other name, of small letters, digits, dots, dashes and underscores, writes an event of
   * that type: one that the platform may have some day (section 9).
   */
  readonly type: ActType | (string & Record<never, never>);
  /** Username, with or without `@`: a person, who is made on first use, or a bot other than `to`. */
  readonly from: string;
  /**
   * The bot concerned, by username. Default: the owner of the post, comment or conversation that is named,
   * else the first bot.
   */
  readonly to?: string | undefined;
  /**
   * The written text, up to 4000 characters; a text of the platform's own when absent. It may be empty
   * where there are images.
   */
  readonly text?: string | undefined;
  /** How many images are attached, 0 to 4. Default 0. */
  readonly images?: number | undefined;
  /** Keys of uploads of the same person (`POST /control/v1/images`), each good once; with `images` up to 4. */
  readonly imageKeys?: readonly string[] | undefined;
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
  readonly commentId?: string | undefined;
  /** The payload of an event whose type is not of the document, as it is. Default `{}`. */
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /** How often, 1 to 1000. Default 1. */
  readonly count?: number | undefined;
}

/** Result: the events of all bots, and the ids of the content that the last act concerns. */
export interface ActResult extends Created {
  readonly events: readonly AnyEvent[];
}

/** How often an act can be done at once. */
export const MAX_COUNT = 1000;

/** The types of which there is no name yet (section 9: new ones may come). */
export const OWN_TYPE: RegExp = /^[a-z][a-z0-9_.-]{0,63}$/;

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

/** Fields of an act of each type, besides its account and its number. */
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

/** False for a type that only an event can have which is invented. */
export function isActType(type: string): type is ActType {
  return Object.hasOwn(details, type);
}

/**
 * Refuses what cannot be done, and details that an act of this type does not have: passed over, they
 * would look obeyed.
 *
 * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
 */
export function checkAct(input: ActInput): void {
  const { type } = input;
  if (!isActType(type) && !OWN_TYPE.test(type)) {
    const known = Object.keys(details).join(", ");
    throw invalid(
      `type must be one of ${known}, or a new one of a-z, 0-9, dots, dashes, underscores`,
    );
  }
  const taken: readonly Detail[] = isActType(type) ? details[type] : ["to", "payload"];
  for (const detail of allDetails) {
    if (input[detail] === undefined || taken.includes(detail)) continue;
    throw invalid(`${detail} says nothing about ${type}; it takes: ${taken.join(", ")}`);
  }
  if (input.postId !== undefined && input.commentId !== undefined) {
    throw invalid("give either postId or commentId, not both");
  }
  const { images = 0, imageKeys = [], count = 1 } = input;
  if (!Number.isInteger(images) || images < 0 || images > MAX_IMAGES) {
    throw invalid(`images must be a whole number from 0 to ${MAX_IMAGES}`);
  }
  if (images + imageKeys.length > MAX_IMAGES) {
    throw invalid(`images and imageKeys must be at most ${MAX_IMAGES} together`);
  }
  if (imageKeys.length > 0 && count !== 1) {
    throw invalid("count must be 1 where there are imageKeys: each is good once");
  }
  if (input.text !== undefined) checkText(input.text, { images: images + imageKeys.length });
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
    throw invalid(`count must be a whole number from 1 to ${MAX_COUNT}`);
  }
}
