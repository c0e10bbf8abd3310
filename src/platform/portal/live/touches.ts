import type { TimelineEntry } from "../../types.ts";

/**
 * Returns a filter for entries that may change a conversation, or a post with its comments.
 *
 * @param id default: any conversation or post
 */
export function touches(
  place: "conversationId" | "postId",
  id?: string,
): (entry: TimelineEntry) => boolean {
  return (entry) => {
    if (entry.kind === "state") return entry.change !== "clock";
    if (entry.kind !== "event" && entry.kind !== "api") return false;
    const touched = (entry.kind === "event" ? entry : entry.created)?.[place];
    return touched !== undefined && (id === undefined || touched === id);
  };
}
