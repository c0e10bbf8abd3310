import type { TimelineEntry } from "../../types.ts";

/** Finds what may have changed a place: a conversation, or a post with what belongs to it. @param id one place; any without it */
export function touches(
  place: "conversationId" | "postId",
  id?: string,
): (entry: TimelineEntry) => boolean {
  return (entry) => {
    if (entry.kind === "state") return entry.change !== "clock";
    const touched =
      entry.kind === "event"
        ? entry[place]
        : entry.kind === "api"
          ? entry.created?.[place]
          : undefined;
    return touched !== undefined && (id === undefined || touched === id);
  };
}
