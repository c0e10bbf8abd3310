/**
 * Shapes of section 2 of the platform document. Objects may carry fields beyond those declared:
 * the platform adds fields without changing its version (section 9).
 */

/** An image of a direct message; posts and comments have `thumbUrl` as well. */
export interface Image {
  readonly url: string;
  /** A small preview; null or absent where there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** A message of a conversation. */
export interface Message {
  readonly id: string;
  readonly conversationId: string;
  /** True when the message belongs to the calling bot. */
  readonly fromBot: boolean;
  readonly authorUsername: string;
  /** Empty for a deleted message and for one of images alone. */
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly replyToId: string | null;
  readonly images: readonly Image[];
}

/** A post. Fields beyond `id`, `type`, `text` and `images` are not documented. */
export interface Post {
  readonly id: string;
  readonly text: string;
  readonly images: readonly Image[];
  /** Where the platform sends it; ISO 8601, UTC. */
  readonly createdAt?: string | undefined;
  /** Where the platform sends it. */
  readonly author?: { readonly username: string } | undefined;
}

/** A comment: it has the fields of a post. */
export interface Comment extends Post {}

/** What the platform answers when a direct message was sent. */
export interface SentMessage {
  readonly id: string;
  readonly conversationId: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** What the platform answers when a comment was made: not documented, so nothing is certain. */
export interface SentComment {
  readonly id?: string | undefined;
}

/** What the platform answers when a post was made: not documented either. */
export interface SentPost {
  readonly id?: string | undefined;
}

/** What became of a reply: a message or a comment. */
export type Sent = SentMessage | SentComment;

/** An uploaded image. It is gone after an hour unless it was attached to something (section 3). */
export interface Upload {
  /** Goes into `imageKeys`, once. */
  readonly key: string;
  readonly url: string;
  readonly thumbUrl: string;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  readonly bytes: number;
}

/** An image to upload: where the platform finds it (https), or its bytes (at most 5 MB) and their type. */
export type ImageSource =
  | { readonly url: string }
  | { readonly data: Uint8Array; readonly contentType: string };

/** The bot's own profile. Fields are not documented; `username` is there where the platform sends it. */
export interface Profile {
  readonly username?: string | undefined;
}

/** One page of a listing, newest first. `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** One page of the event log, oldest first. */
export interface EventPage {
  /** As they came over the wire; `readBatch` and `parseEvent` make sense of them. */
  readonly events: readonly unknown[];
  /** To be sent as `since` for the next page. */
  readonly cursor: string;
  /** The platform's clock when it answered, in ms since 1970; absent without a `Date` header. */
  readonly date: number | undefined;
}

/** Text, images, or both. At least one is required (section 4, "Attaching images"). */
export interface OutgoingMessage {
  readonly text?: string | undefined;
  /** At most 4 keys of uploaded images. */
  readonly imageKeys?: readonly string[] | undefined;
}

export interface PageOptions {
  /** 1 to 50. The platform's default is not documented. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
