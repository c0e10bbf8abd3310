import { idText } from "./id.ts";
import type { AnyEvent } from "./types.ts";

/** Names the lane of an event. Events of one lane are handled one after the other, in order. */
export type LaneOf = (event: AnyEvent) => string;

/**
 * The lane of an event unless a bot chooses its own: the conversation for messages, the post for
 * activity on a post, the user for follows.
 */
export function defaultLane(event: AnyEvent): string {
  // Read by field rather than by type, so that types newer than this version find their place too.
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const conversation = idText(payload["conversationId"]);
  if (conversation !== undefined) return `dm:${conversation}`;
  const { username }: { username?: unknown } = Object(payload["actor"]);
  const user = event.type === "follow" ? idText(username) : undefined;
  if (user !== undefined) return `user:${user}`;
  const post = idText(payload["postId"]) ?? idText(payload["entityId"]);
  return post === undefined ? `type:${event.type}` : `post:${post}`;
}
