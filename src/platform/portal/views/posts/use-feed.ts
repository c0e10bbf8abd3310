import { control } from "../../api/control.ts";
import type { ControlPost, TimelineEntry } from "../../api/shapes.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";

/** All posts, newest first. */
export function useFeed(): Pages<ControlPost> {
  return usePages(control.posts, { key: "posts", concerns: (entry) => isAboutPost(entry) });
}

/** True for what may have changed a post or what belongs to it: one post, or any. */
export function isAboutPost(entry: TimelineEntry, id?: string): boolean {
  if (entry.kind === "state") return entry.change !== "clock";
  const postId =
    entry.kind === "event"
      ? entry.postId
      : entry.kind === "api"
        ? entry.created?.postId
        : undefined;
  return postId !== undefined && (id === undefined || postId === id);
}
