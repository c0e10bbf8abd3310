import { ServiceBotError } from "../errors.ts";

/** Where the messages of a conversation are, below `/api/v1`. */
export function messagesPath(conversationId: string): string {
  return `${conversationsPath}/${segment(conversationId)}/messages`;
}

export const conversationsPath = "/dm/conversations";

/** Where an account is, below `/api/v1`. */
export function userPath(username: string): string {
  return `/users/${segment(username)}`;
}

/** Where a post is, below `/api/v1`. */
export function postPath(postId: string): string {
  return `/posts/${segment(postId)}`;
}

/** Where the comments on a post are, below `/api/v1`. */
export function commentsPath(postId: string): string {
  return `/posts/${segment(postId)}/comments`;
}

/**
 * One part of a path. Half a character (a lone surrogate) cannot be written in it, and no spelling keeps a dot or two from being read as "here" and "up", so such an id
 * would call another address.
 *
 * @throws {ServiceBotError} INVALID_ID
 */
function segment(id: string): string {
  if (!["", ".", ".."].includes(id) && id.isWellFormed()) return encodeURIComponent(id);
  throw new ServiceBotError(
    "INVALID_ID",
    `"${id}" cannot be the id of a conversation or a post, or the name of an account.`,
  );
}
