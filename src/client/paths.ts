import { ServiceBotError } from "../errors.ts";

/** Where the messages of a conversation are, below `/api/v1`. */
export function messagesPath(conversationId: string): string {
  return `/dm/conversations/${segment(conversationId)}/messages`;
}

/** Where the comments on a post are, below `/api/v1`. */
export function commentsPath(postId: string): string {
  return `/posts/${segment(postId)}/comments`;
}

/**
 * One part of a path. No spelling keeps a dot or two from being read as "here" and "up", so such an id
 * would call another address.
 *
 * @throws {ServiceBotError} INVALID_ID
 */
function segment(id: string): string {
  if (!["", ".", ".."].includes(id)) return encodeURIComponent(id);
  throw new ServiceBotError("INVALID_ID", `"${id}" cannot be the id of a conversation or a post.`);
}
