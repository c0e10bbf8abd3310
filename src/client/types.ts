import type { ImageInput } from "./images/source.ts";

/**
 * Shapes of section 2 of the platform document. Objects may carry fields beyond those declared:
 * the platform adds fields without changing its version (section 9).
 */

/** An image of a direct message; posts and comments have `thumbUrl` as well. */
export interface Image {
  /** Address of the image. */
  readonly url: string;
  /** A small preview; null or absent if there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels; absent if the platform does not send it. */
  readonly width?: number | undefined;
  /** Pixels; absent if the platform does not send it. */
  readonly height?: number | undefined;
}

/** A message of a conversation. */
export interface Message {
  readonly id: string;
  /** Empty if the platform does not send it. */
  readonly conversationId: string;
  /** True when the message belongs to the calling bot. */
  readonly fromBot: boolean;
  /** Without an @; empty if the platform does not send it. */
  readonly authorUsername: string;
  /** Empty for a deleted message and for one of images alone. */
  readonly text: string;
  /** ISO 8601, UTC; empty if the platform does not send it. */
  readonly createdAt: string;
  /** The message that this one answers; null if it answers none. */
  readonly replyToId: string | null;
  readonly images: readonly Image[];
}

/** A post. Fields beyond `id`, `type`, `text` and `images` are not documented, so the type is open. */
export interface Post {
  readonly id: string;
  /** `post` for posts. */
  readonly type?: string | undefined;
  readonly text: string;
  readonly images: readonly Image[];
  /** ISO 8601, UTC; absent if the platform does not send it. */
  readonly createdAt?: string | undefined;
  /** Absent if the platform does not send it. */
  readonly author?: { readonly username: string } | undefined;
  readonly [field: string]: unknown;
}

/** A comment: it has the fields of a post. */
export interface Comment extends Post {}

/** Answer to a direct message that was sent. */
export interface SentMessage {
  readonly id: string;
  readonly conversationId: string;
  /** ISO 8601, UTC; empty if the platform does not send it. */
  readonly createdAt: string;
}

/** Answer to a new comment. It is not documented, so no field is certain. */
export interface SentComment {
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

/** Answer to a new post. It is not documented either. */
export interface SentPost {
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

/** A reply that was sent: a message or a comment. */
export type Sent = SentMessage | SentComment;

/** An uploaded image. The platform deletes it after an hour unless it was attached (section 3). */
export interface Upload {
  /** Goes into `imageKeys`, once. */
  readonly key: string;
  /** Empty if the platform does not send it. */
  readonly url: string;
  /** A small preview; null or absent if there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels; absent if the platform does not send it. */
  readonly width?: number | undefined;
  /** Pixels; absent if the platform does not send it. */
  readonly height?: number | undefined;
  /** Size in bytes; absent if the platform does not send it. */
  readonly bytes?: number | undefined;
}

/** An account. Its fields are not documented: any may be absent, and others may be present. */
export interface Profile {
  readonly id?: string | undefined;
  readonly username?: string | undefined;
  readonly name?: string | undefined;
  readonly avatarUrl?: string | null | undefined;
  readonly isBot?: boolean | undefined;
  readonly [field: string]: unknown;
}

/** A search. Fields besides `text` are sent as they are, because the parameters are not documented. */
export interface SearchQuery {
  /** Text to search for. */
  readonly text: string;
  readonly [parameter: string]: string | undefined;
}

/** A search result. Its fields are not documented; `type` may distinguish a post from an account. */
export interface SearchHit {
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

/** A conversation of the bot with one person. */
export interface Conversation {
  readonly id: string;
  readonly peer: {
    readonly username: string;
    /** Empty if the platform does not send it. */
    readonly name: string;
    readonly avatarUrl: string | null;
    /** False if the platform does not send it. */
    readonly isBot: boolean;
  };
  /** ISO 8601, UTC; empty if the platform does not send it. */
  readonly lastMessageAt: string;
  /** Null if the platform does not send it. */
  readonly lastMessage: { readonly text: string; readonly fromBot: boolean } | null;
}

/** One page of a listing, newest first. `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The `cursor` of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** One page of the event log, oldest first. */
export interface EventPage {
  /** Unchecked: `readBatch` and `parseEvent` check them. */
  readonly events: readonly unknown[];
  /** The `since` of the next page. */
  readonly cursor: string;
  /** The platform's clock when it answered, in ms since 1970; absent without a `Date` header. */
  readonly date: number | undefined;
}

/** Text, images, or both. At least one is required (section 4, "Attaching images"). */
export interface OutgoingMessage {
  /** May be empty with images. */
  readonly text?: string | undefined;
  /**
   * Images: bytes, a Blob, a stream, a path, an https address, or the key of an upload (docs/images.md). With
   * `imageKeys` at most 4. They are uploaded side by side.
   */
  readonly images?: readonly ImageInput[] | undefined;
  /** The keys of uploads; they come before `images`. */
  readonly imageKeys?: readonly string[] | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Selects a page of a listing. */
export interface PageOptions extends CallOptions {
  /** 1 to 50. The platform's default is not documented. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}
