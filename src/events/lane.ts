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
  const { conversationId, postId, entityId, actor } = payload;
  if (isText(conversationId)) return `dm:${conversationId}`;
  if (event.type === "follow" && isObject(actor) && isText(actor.username)) {
    return `user:${actor.username}`;
  }
  if (isText(postId)) return `post:${postId}`;
  if (isText(entityId)) return `post:${entityId}`;
  return `type:${event.type}`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
