import { idText } from "../events/id.ts";
import type { Happened } from "./fake-log.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Something that was said, as far as an event tells. */
export interface Learned {
  /** Where it was said, or that it is a post. */
  readonly place: Place;
  readonly id: string;
  readonly text: string;
  readonly by: "bot" | "actor" | "unknown";
}

type Place =
  | { readonly kind: "dm"; readonly conversationId: string }
  | { readonly kind: "comment"; readonly postId: string }
  | { readonly kind: "post" };

/** These are about a post or a comment of the bot (section 6). */
const aboutTheBots: ReadonlySet<string> = new Set(["comment", "like", "repost", "quote"]);

/** What must have been said for this event to happen, in order. */
export function learn({ id, type, payload }: Happened): readonly Learned[] {
  const fields: Fields = { ...payload };
  const { excerpt, entityType, entityId } = fields;
  const conversationId = idText(fields["conversationId"]);
  const text = typeof excerpt === "string" ? excerpt : "";
  if (conversationId !== undefined) {
    return [{ place: { kind: "dm", conversationId }, id: `message_of_${id}`, text, by: "actor" }];
  }
  const called = (kind: string) =>
    idText(fields[`${kind}Id`]) ?? (entityType === kind ? idText(entityId) : undefined);
  const postId = called("post");
  if (postId === undefined) return [];
  const isComment = type === "comment" || type === "reply";
  const commentId = called("comment") ?? (isComment ? `comment_of_${id}` : undefined);
  const isTheBots = aboutTheBots.has(type);
  const post = { place: { kind: "post" }, id: postId } as const;
  if (commentId === undefined) {
    // The words of a quote are those of who quotes.
    const words = type === "quote" ? "" : text;
    return [{ ...post, text: words, by: isTheBots ? "bot" : "actor" }];
  }
  const comment = { place: { kind: "comment", postId }, id: commentId, text } as const;
  return [
    { ...post, text: "", by: type === "comment" ? "bot" : "unknown" },
    { ...comment, by: isTheBots && !isComment ? "bot" : "actor" },
  ];
}
