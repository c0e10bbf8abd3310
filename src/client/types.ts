import type { ImageInput } from "./images/source.ts";

/**
 * Shapes of section 2 of the platform document. Objects may carry fields beyond those declared:
 * the platform adds fields without changing its version (section 9).
 */

/** An image of a direct message; posts and comments have `thumbUrl` as well. */
export interface Image {
  /** Where the image can be fetched. */
  readonly url: string;
  /** A small preview; null or absent where there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels; absent where the platform does not say. */
  readonly width?: number | undefined;
  /** Pixels; absent where the platform does not say. */
  readonly height?: number | undefined;
}

/** A message of a conversation. */
export interface Message {
  readonly id: string;
  /** Empty where the platform does not say. */
  readonly conversationId: string;
  /** True when the message belongs to the calling bot. */
  readonly fromBot: boolean;
  /** Without an @; empty where the platform does not say. */
  readonly authorUsername: string;
  /** Empty for a deleted message and for one of images alone. */
  readonly text: string;
  /** ISO 8601, UTC; empty where the platform does not say. */
  readonly createdAt: string;
  /** The message that this one answers; null where it answers none. */
  readonly replyToId: string | null;
  readonly images: readonly Image[];
}

/** A post. Fields beyond `id`, `type`, `text` and `images` are not documented, and open therefore. */
export interface Post {
  readonly id: string;
  /** `post` for posts. */
  readonly type?: string | undefined;
  readonly text: string;
  readonly images: readonly Image[];
  /** Where the platform sends it; ISO 8601, UTC. */
  readonly createdAt?: string | undefined;
  /** Where the platform sends it. */
  readonly author?: { readonly username: string } | undefined;
  readonly [field: string]: unknown;
}

/** A comment: it has the fields of a post. */
export interface Comment extends Post {}

/** What the platform answers when a direct message was sent. */
export interface SentMessage {
  readonly id: string;
  readonly conversationId: string;
  /** ISO 8601, UTC; empty where the platform does not say. */
  readonly createdAt: string;
}

/** What the platform answers when a comment was made: not documented, so nothing is certain. */
export interface SentComment {
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

/** What the platform answers when a post was made: not documented either. */
export interface SentPost {
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

/** What became of a reply: a message or a comment. */
export type Sent = SentMessage | SentComment;

/** An uploaded image. It is gone after an hour unless it was attached to something (section 3). */
export interface Upload {
  /** Goes into `imageKeys`, once. */
  readonly key: string;
  /** Empty where the platform does not say. */
  readonly url: string;
  /** A small preview; null or absent where there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels; absent where the platform does not say. */
  readonly width?: number | undefined;
  /** Pixels; absent where the platform does not say. */
  readonly height?: number | undefined;
  /** Its size; absent where the platform does not say. */
  readonly bytes?: number | undefined;
}

/** An account. Fields are not documented: these are there where the platform sends them, and so may others be. */
export interface Profile {
  readonly id?: string | undefined;
  readonly username?: string | undefined;
  readonly name?: string | undefined;
  readonly avatarUrl?: string | null | undefined;
  readonly isBot?: boolean | undefined;
  readonly [field: string]: unknown;
}

/** What is searched for. Fields besides `text` are sent as they are: the parameters are not documented. */
export interface SearchQuery {
  /** What is looked for. */
  readonly text: string;
  readonly [parameter: string]: string | undefined;
}

/** Something found. Fields are not documented; `type` may tell a post from an account. */
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
    /** Empty where the platform does not say. */
    readonly name: string;
    readonly avatarUrl: string | null;
    /** False where the platform does not say. */
    readonly isBot: boolean;
  };
  /** ISO 8601, UTC; empty where the platform does not say. */
  readonly lastMessageAt: string;
  /** Null where the platform does not say. */
  readonly lastMessage: { readonly text: string; readonly fromBot: boolean } | null;
}

/** One page of a listing, newest first. `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Goes into `cursor` for the next page; null on the last one. */
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
  /** What is said; with images it may be empty. */
  readonly text?: string | undefined;
  /**
   * Images: bytes, a Blob, a stream, a path, an https address, or the key of an upload (docs/images.md). With
   * `imageKeys` at most 4. They are uploaded side by side.
   */
  readonly images?: readonly ImageInput[] | undefined;
  /** The keys of uploads; they come before `images`. */
  readonly imageKeys?: readonly string[] | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Which page of a listing is asked for. */
export interface PageOptions extends CallOptions {
  /** 1 to 50. The platform's default is not documented. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}
