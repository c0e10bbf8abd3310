import type { ControlPost } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { touches } from "../../live/touches.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";

/** All posts, newest first. */
export function useFeed(): Pages<ControlPost> {
  return usePages(control.posts, { key: "posts", concerns: touches("postId") });
}
