import { isRecord } from "../core/json.ts";
import {
  anything,
  arrayOf,
  boolean,
  changed,
  lenient,
  nullable,
  number,
  openObject,
  optional,
  readShape,
  type Shape,
  string,
} from "../core/shapes.ts";
import { ServiceBotError } from "../errors.ts";

/**
 * Types from section 2 of the platform document, each with the shape of its responses. Objects may have more fields
 * than declared, because the platform adds fields without a new version (section 9).
 */

/** Id as a string, even if the platform sends an integer. The number must be exact. */
const id: Shape<string> = changed(string, (value) =>
  Number.isSafeInteger(value) ? String(value) : value,
);
/** Documented text that handlers do not depend on. Empty if the platform sends null or nothing. */
const words: Shape<string> = changed(string, (value) => value ?? "");
/** The platform may send null for a field that is missing. */
const orUndefined = <T>(shape: Shape<T>): Shape<T | undefined> =>
  changed(optional(shape), (value) => value ?? undefined);
const orNull = <T>(shape: Shape<T>): Shape<T | null> =>
  changed(nullable(shape), (value) => value ?? null);
/** An undocumented field is left out if its type is unexpected, so that it cannot break a bot. */
const perhapsId = lenient(id);

/** An image in a direct message, post or comment. Only images in posts and comments have a `thumbUrl`. */
export interface Image {
  /** The image's URL. */
  readonly url: string;
  /** URL of a small preview. Null or absent if there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels. Absent if the platform does not send it. */
  readonly width?: number | undefined;
  /** Pixels. Absent if the platform does not send it. */
  readonly height?: number | undefined;
}

const image: Shape<Image> = openObject({
  url: string,
  thumbUrl: optional(nullable(string)),
  width: lenient(number),
  height: lenient(number),
});
const images: Shape<readonly Image[]> = changed(arrayOf(image), (value) => value ?? []);

/** A message in a conversation. */
export interface Message {
  /** The message's id. */
  readonly id: string;
  /** Empty if the platform does not send it. */
  readonly conversationId: string;
  /** True if the calling bot sent the message. */
  readonly fromBot: boolean;
  /** Without an @. Empty if the platform does not send it. */
  readonly authorUsername: string;
  /** Empty for a deleted message, and for images without text. */
  readonly text: string;
  /** ISO 8601, UTC. Empty if the platform does not send it. */
  readonly createdAt: string;
  /** Id of the message that this message replies to. Null if it is not a reply. */
  readonly replyToId: string | null;
  /** Empty if the message has no images. */
  readonly images: readonly Image[];
}

export const message: Shape<Message> = openObject({
  id,
  conversationId: changed(id, (value) => value ?? ""),
  fromBot: boolean,
  authorUsername: words,
  text: words,
  createdAt: words,
  replyToId: orNull(id),
  images,
});

/** A post. Fields other than `id`, `type`, `text` and `images` are not documented, so the type is open. */
export interface Post {
  /** Id of the post or comment. */
  readonly id: string;
  /** `post` for posts. */
  readonly type?: string | undefined;
  /** Empty if there is none. */
  readonly text: string;
  /** Empty if there are none. */
  readonly images: readonly Image[];
  /** ISO 8601, UTC. Absent if the platform does not send it. */
  readonly createdAt?: string | undefined;
  /** Absent if the platform does not send it. */
  readonly author?:
    | {
        /** Without an @. */
        readonly username: string;
      }
    | undefined;
  readonly [field: string]: unknown;
}

/** A comment. It has the same fields as a post. */
export interface Comment extends Post {}

export const post: Shape<Post> = openObject({
  id,
  type: orUndefined(string),
  text: words,
  images,
  createdAt: lenient(string),
  author: lenient(openObject({ username: string })),
});

/** Response to a new direct message. */
export interface SentMessage {
  /** Id of the new message. */
  readonly id: string;
  /** Empty if the platform does not send it. */
  readonly conversationId: string;
  /** ISO 8601, UTC. Empty if the platform does not send it. */
  readonly createdAt: string;
}

export const sentMessageShape: Shape<SentMessage> = openObject({
  id,
  conversationId: changed(id, (value) => value ?? ""),
  createdAt: words,
});

/** Response to a new post. Undocumented, so any field may be missing. */
export interface SentPost {
  /** Id of the new post or comment. */
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

/** Response to a new comment. Undocumented, so any field may be missing. */
export interface SentComment extends SentPost {}

/** Response to a reply, which is either a direct message or a comment. */
export type Sent = SentMessage | SentComment;

/** Accepts any response, because section 4 of the platform document does not show one. */
export const sentPostShape: Shape<SentPost> = changed(openObject({ id: perhapsId }), (value) =>
  isRecord(value) ? value : {},
);

/**
 * An uploaded image. The platform deletes it after an hour unless it is attached (section 3 of the platform document).
 */
export interface Upload {
  /** Key for `imageKeys`, valid for one use. */
  readonly key: string;
  /** Empty if the platform does not send it. */
  readonly url: string;
  /** URL of a small preview. Null or absent if there is none. */
  readonly thumbUrl?: string | null | undefined;
  /** Pixels. Absent if the platform does not send it. */
  readonly width?: number | undefined;
  /** Pixels. Absent if the platform does not send it. */
  readonly height?: number | undefined;
  /** Size in bytes. Absent if the platform does not send it. */
  readonly bytes?: number | undefined;
}

export const upload: Shape<Upload> = openObject({
  key: string,
  url: words,
  thumbUrl: optional(nullable(string)),
  width: lenient(number),
  height: lenient(number),
  bytes: lenient(number),
});

/** An account. Its fields are not documented. Any of them may be absent, and there may be others. */
export interface Profile {
  /** Id of the account. */
  readonly id?: string | undefined;
  /** Without an @. */
  readonly username?: string | undefined;
  /** Display name. */
  readonly name?: string | undefined;
  /** URL of the account's picture. Null or absent if there is none. */
  readonly avatarUrl?: string | null | undefined;
  /** Whether the account belongs to a bot. */
  readonly isBot?: boolean | undefined;
  readonly [field: string]: unknown;
}

export const profile: Shape<Profile> = openObject({
  id: perhapsId,
  username: lenient(string),
  name: lenient(string),
  avatarUrl: lenient(nullable(string)),
  isBot: lenient(boolean),
});

/** A search result. Its fields are not documented. `type` may distinguish a post from an account. */
export interface SearchHit {
  /** Kind of the result. */
  readonly type?: string | undefined;
  /** Id of the result. */
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

export const searchHit: Shape<SearchHit> = openObject({
  id: perhapsId,
  type: lenient(string),
});

/** A conversation between the bot and one user. */
export interface Conversation {
  /** The conversation's id. */
  readonly id: string;
  /** The other user in the conversation. */
  readonly peer: {
    /** Without an @. */
    readonly username: string;
    /** Empty if the platform does not send it. */
    readonly name: string;
    /** URL of the user's picture. Null if there is none. */
    readonly avatarUrl: string | null;
    /** False if the platform does not send it. */
    readonly isBot: boolean;
  };
  /** ISO 8601, UTC. Empty if the platform does not send it. */
  readonly lastMessageAt: string;
  /** Null if the platform does not send it. */
  readonly lastMessage: {
    /** Empty for a deleted message, and for images without text. */
    readonly text: string;
    /** True if the calling bot sent the message. */
    readonly fromBot: boolean;
  } | null;
}

export const conversation: Shape<Conversation> = openObject({
  id,
  peer: openObject({
    username: string,
    name: words,
    avatarUrl: orNull(string),
    isBot: changed(boolean, (value) => value ?? false),
  }),
  lastMessageAt: words,
  lastMessage: orNull(openObject({ text: words, fromBot: boolean })),
});

/** One page of the event log, oldest first. */
export interface EventPage {
  /** Unvalidated events, for `readBatch` and `parseEvent`. */
  readonly events: readonly unknown[];
  /** Value of `since` for the next page. */
  readonly cursor: string;
  /** Time of the response on the platform's clock, in ms since 1970. `undefined` without a `Date` header. */
  readonly date: number | undefined;
}

export const eventPage: Shape<Omit<EventPage, "date">> = openObject({
  events: arrayOf(anything),
  cursor: id,
});

/** One page of a listing. */
export interface Page<T> {
  /** In the order of the platform. */
  readonly items: readonly T[];
  /** Value of `cursor` for the next page. Null on the last page. */
  readonly nextCursor: string | null;
}

/** An empty or missing cursor means the last page. In a request, an empty cursor would return the first page again. */
const cursor = changed(orNull(id), (value) => (value === "" ? null : value));

/** Creates the shape of a page, as the platform document shows it for conversations and messages. */
export function documentedPageOf<T>(item: Shape<T>): Shape<Page<T>> {
  return openObject({ items: arrayOf(item), nextCursor: cursor });
}

/**
 * Creates the shape of a page from "Other read endpoints", which the platform document does not show. A bare array
 * counts as a single page.
 */
export function pageOf<T>(item: Shape<T>): Shape<Page<T>> {
  return changed(documentedPageOf(item), (body) => (Array.isArray(body) ? { items: body } : body));
}

/** Options for every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for a listing. */
export interface PageOptions extends CallOptions {
  /** Items per page, 1 to 50. The platform's default is not documented. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A search. Fields other than `text` are sent unchanged, because the parameters are not documented. */
export interface SearchQuery {
  /** Text to search for. */
  readonly text: string;
  readonly [parameter: string]: string | undefined;
}

/** Bytes of an image. */
type ImageBytes = ArrayBufferView | ArrayBuffer | Blob;

/**
 * An image: its bytes, its path, its URL, or the key of an uploaded image.
 *
 * The client reads a string by these rules, in this order:
 *
 * 1. `https://…` is a URL from which the platform fetches the image. Other schemes are rejected.
 *
 * 2. A string is a path if it begins with `file://` or `~`, contains `/` or `\`, or ends like an image file name
 *    (`.png`, `.jpg`, …).
 *
 * 3. Every other string is a key.
 *
 * `{ url }`, `{ path }` and `{ key }` bypass these rules. Never pass a string from a user, because it could name a file
 * on your machine.
 */
export type ImageInput =
  | string
  | URL
  | ImageBytes
  | {
      /** Path of a file on this machine. */
      readonly path: string | URL;
    }
  | {
      /** https URL from which the platform fetches the image. */
      readonly url: string | URL;
      /** Absent, because a `Response` has both fields. */
      readonly arrayBuffer?: never;
    }
  | {
      /** Key of an uploaded image. */
      readonly key: string;
    };

/** Text, images or both. At least one is required (section 4 of the platform document, "Attaching images"). */
export interface OutgoingMessage {
  /** May be empty if there are images. */
  readonly text?: string | undefined;
  /**
   * Images as bytes, paths, https URLs or upload keys (docs/reference/images.md). At most 4, including `imageKeys`.
   * They are uploaded in parallel.
   */
  readonly images?: readonly ImageInput[] | undefined;
  /** Upload keys. These images come before `images`. */
  readonly imageKeys?: readonly string[] | undefined;
}

/** Maximum number of items to validate. The platform sends at most 50 (section 8 of the platform document). */
const MAX_ITEMS = 1_000;

/** Maximum number of problems in an error message, and of characters per problem. */
const MAX_PROBLEMS = 5;
const MAX_CHARACTERS = 200;

/**
 * Checks a response against its shape. New fields are valid. The error names a missing field by its path.
 *
 * @throws {ServiceBotError} API_INVALID_RESPONSE
 */
export function check<T>(shape: Shape<T>, body: unknown, request: string): T {
  const items = itemsIn(body);
  if (items > MAX_ITEMS)
    throw invalid(request, `the page has ${items} items, but at most 50 are allowed`);
  const result = readShape(shape, body);
  if (result.ok) return result.value;
  const { problems } = result;
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path.join(".") || "body"}: ${message}`.slice(0, MAX_CHARACTERS));
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : [];
  throw invalid(request, [...shown, ...more].join("; "));
}

function itemsIn(body: unknown): number {
  if (Array.isArray(body)) return body.length;
  const { items, events }: { items?: unknown; events?: unknown } = Object(body);
  const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 0);
  return Math.max(lengthOf(items), lengthOf(events));
}

function invalid(request: string, problem: string): ServiceBotError {
  const message = `${request}: unexpected response: ${problem}`;
  return new ServiceBotError("API_INVALID_RESPONSE", message);
}
