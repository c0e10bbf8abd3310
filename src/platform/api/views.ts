import type { ConversationSummary, Message } from "../store/conversations.ts";
import { idOf } from "../store/ids.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";

/** The shapes of section 2 as they go over the wire. */

export interface AuthorView {
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

/** `author` and `createdAt` are ours; the document shows the first four fields only. */
export interface PostView {
  readonly id: string;
  readonly type: "post";
  readonly text: string;
  readonly images: readonly never[];
  readonly author: AuthorView;
  readonly createdAt: string;
}

export interface CommentView extends Omit<PostView, "type"> {
  readonly type: "comment";
  readonly postId: string;
}

export interface MessageView {
  readonly id: string;
  readonly conversationId: string;
  readonly fromBot: boolean;
  readonly authorUsername: string;
  readonly text: string;
  readonly createdAt: string;
  readonly replyToId: string | null;
  readonly images: readonly never[];
}

export interface ConversationView {
  readonly id: string;
  readonly peer: AuthorView & { readonly avatarUrl: string | null };
  readonly lastMessageAt: string;
  readonly lastMessage: { readonly text: string; readonly fromBot: boolean };
}

export function postView(post: Post): PostView {
  return { id: idOf("p", post.seq), type: "post", ...written(post) };
}

export function commentView(comment: Comment): CommentView {
  const postId = idOf("p", comment.post);
  return { id: idOf("cm", comment.seq), type: "comment", ...written(comment), postId };
}

/** `fromBot`: the message belongs to this bot (section 2). */
export function messageView(message: Message, bot: User): MessageView {
  return {
    id: idOf("m", message.seq),
    conversationId: idOf("c", message.conversation),
    fromBot: message.author === bot.seq,
    authorUsername: message.authorUsername,
    text: message.text,
    createdAt: isoTime(message.createdAt),
    replyToId: null,
    images: [],
  };
}

export function conversationView(summary: ConversationSummary, bot: User): ConversationView {
  return {
    id: idOf("c", summary.seq),
    peer: {
      username: summary.peerUsername,
      name: summary.peerName,
      avatarUrl: null,
      isBot: summary.peerIsBot === 1,
    },
    lastMessageAt: isoTime(summary.lastAt),
    lastMessage: { text: summary.lastText, fromBot: summary.lastAuthor === bot.seq },
  };
}

/** ISO 8601, UTC, with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function written(content: Post): Pick<PostView, "text" | "images" | "author" | "createdAt"> {
  return {
    text: content.text,
    images: [],
    author: {
      username: content.authorUsername,
      name: content.authorName,
      isBot: content.authorIsBot === 1,
    },
    createdAt: isoTime(content.createdAt),
  };
}
