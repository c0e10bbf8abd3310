import type { EventType, KnownEvent } from "../../events/types.ts";
import { checkText, MAX_IMAGES } from "../content.ts";
import { invalid } from "../error.ts";
import type { Created } from "../timeline/entries.ts";

/** Something that a person does, and that makes an event of `type` happen (section 6). */
export interface ActInput {
  readonly type: EventType;
  /** Username, with or without `@`; the person is made on first use. */
  readonly from: string;
  /**
   * What the person writes, up to 4000 characters; a text of the platform's own when absent. It may be
   * empty where there are images.
   */
  readonly text?: string | undefined;
  /** How many images the person attaches, 0 to 4. Default 0. */
  readonly images?: number | undefined;
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
  readonly commentId?: string | undefined;
  /** How often, 1 to 1000. Default 1. */
  readonly count?: number | undefined;
}

/** What happened: the events, and the ids of what the last one concerns. */
export interface ActResult extends Created {
  readonly events: readonly KnownEvent[];
}

const MAX_COUNT = 1000;

type Detail = "text" | "images" | "conversationId" | "postId" | "commentId";

/** What may be said about an act of each type, besides who does it. */
const details: { readonly [T in EventType]: readonly Detail[] } = {
  "dm.message": ["text", "images", "conversationId"],
  mention: ["text", "images", "postId"],
  comment: ["text", "images", "postId"],
  reply: ["text", "images", "commentId"],
  follow: [],
  like: ["postId", "commentId"],
  repost: ["postId"],
  quote: ["text", "images", "postId"],
};

/**
 * Refuses what cannot be done, and details that an act of this type does not have: passed over, they
 * would look obeyed.
 *
 * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG
 */
export function checkAct(input: ActInput): void {
  const taken = details[input.type];
  for (const detail of ["text", "images", "conversationId", "postId", "commentId"] as const) {
    if (input[detail] === undefined || taken.includes(detail)) continue;
    const list = taken.length === 0 ? "none" : taken.join(", ");
    throw invalid(`${detail} says nothing about ${input.type}; it takes: ${list}`);
  }
  if (input.postId !== undefined && input.commentId !== undefined) {
    throw invalid("give either postId or commentId, not both");
  }
  const { images = 0, count = 1 } = input;
  if (!Number.isInteger(images) || images < 0 || images > MAX_IMAGES) {
    throw invalid(`images must be a whole number from 0 to ${MAX_IMAGES}`);
  }
  if (input.text !== undefined) checkText(input.text, { images });
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
    throw invalid(`count must be a whole number from 1 to ${MAX_COUNT}`);
  }
}

/** The username in a field: lower case, without the `@` that people put before it. */
export function usernameIn(given: string, field: string): string {
  const username = given.replace(/^@/, "").toLowerCase();
  if (/^[a-z0-9_][a-z0-9_.-]{0,29}$/.test(username)) return username;
  throw invalid(`${field} must be a username: 1 to 30 letters, digits, dots, dashes, underscores`);
}
