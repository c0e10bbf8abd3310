import * as z from "zod";
import { ServiceBotError } from "../errors.ts";

/**
 * Types from section 2 of the platform document, each with the schema for its responses. Objects may have more fields
 * than declared, because the platform adds fields without a new version (section 9).
 */

/** Id as a string, even if the platform sends an integer. The number must be exact. */
const id: z.ZodType<string> = z.preprocess(
  (value) => (Number.isSafeInteger(value) ? String(value) : value),
  z.string(),
);
const text = z.string();
/** Documented text that handlers do not depend on. Empty if the platform sends null or nothing. */
const words: z.ZodType<string> = z.preprocess((value) => value ?? "", z.string());
const orUndefined = <T>(schema: z.ZodType<T>): z.ZodType<T | undefined> =>
  z.preprocess((value) => value ?? undefined, schema.optional());
/** Undocumented field. Omitted if its type is unexpected, so that it cannot break a bot. */
const perhaps = <T>(schema: z.ZodType<T>): z.ZodType<T | undefined> =>
  orUndefined(schema).catch(undefined);
const perhapsId = perhaps(id);

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

const image: z.ZodType<Image> = z.looseObject({
  url: text,
  thumbUrl: z.string().nullish(),
  width: perhaps(z.number()),
  height: perhaps(z.number()),
});
const images: z.ZodType<Image[]> = z.preprocess((value) => value ?? [], z.array(image));

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

export const message: z.ZodType<Message> = z.looseObject({
  id,
  conversationId: z.preprocess((value) => value ?? "", id),
  fromBot: z.boolean(),
  authorUsername: words,
  text: words,
  createdAt: words,
  replyToId: id.nullable().default(null),
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

export const post: z.ZodType<Post> = z.looseObject({
  id,
  type: orUndefined(text),
  text: words,
  images,
  createdAt: perhaps(text),
  author: perhaps(z.looseObject({ username: text })),
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

export const sentMessageSchema: z.ZodType<SentMessage> = z.looseObject({
  id,
  conversationId: z.preprocess((value) => value ?? "", id),
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
export const sentPostSchema: z.ZodType<SentPost> = z
  .looseObject({ id: perhapsId })
  .catch({ id: undefined });

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

export const upload: z.ZodType<Upload> = z.looseObject({
  key: text,
  url: words,
  thumbUrl: z.string().nullish(),
  width: perhaps(z.number()),
  height: perhaps(z.number()),
  bytes: perhaps(z.number()),
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

export const profile: z.ZodType<Profile> = z.looseObject({
  id: perhapsId,
  username: perhaps(text),
  name: perhaps(text),
  avatarUrl: z.string().nullish().catch(undefined),
  isBot: perhaps(z.boolean()),
});

/** A search result. Its fields are not documented. `type` may distinguish a post from an account. */
export interface SearchHit {
  /** Kind of the result. */
  readonly type?: string | undefined;
  /** Id of the result. */
  readonly id?: string | undefined;
  readonly [field: string]: unknown;
}

export const searchHit: z.ZodType<SearchHit> = z.looseObject({
  id: perhapsId,
  type: perhaps(text),
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

export const conversation: z.ZodType<Conversation> = z.looseObject({
  id,
  peer: z.looseObject({
    username: text,
    name: words,
    avatarUrl: z.string().nullable().default(null),
    isBot: z.preprocess((value) => value ?? false, z.boolean()),
  }),
  lastMessageAt: words,
  lastMessage: z.looseObject({ text: words, fromBot: z.boolean() }).nullable().default(null),
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

export const eventPage: z.ZodType<Omit<EventPage, "date">> = z.looseObject({
  events: z.array(z.unknown()),
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
const cursor = z.preprocess((value) => (value === "" ? null : value), id.nullable().default(null));

/** Creates the schema for a page, as the platform document shows it for conversations and messages. */
export function documentedPageOf<T>(item: z.ZodType<T>): z.ZodType<Page<T>> {
  return z.looseObject({ items: z.array(item), nextCursor: cursor });
}

/**
 * Creates the schema for a page from "Other read endpoints", which the platform document does not show. A bare array
 * counts as a single page.
 */
export function pageOf<T>(item: z.ZodType<T>): z.ZodType<Page<T>> {
  return z.preprocess(
    (body) => (Array.isArray(body) ? { items: body } : body),
    documentedPageOf(item),
  );
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
const MAX_ISSUES = 5;
const MAX_CHARACTERS = 200;

/**
 * Checks a response against its schema. New fields are valid. The error names a missing field by its path.
 *
 * @throws {ServiceBotError} API_INVALID_RESPONSE
 */
export function check<T>(schema: z.ZodType<T>, body: unknown, request: string): T {
  const items = itemsIn(body);
  if (items > MAX_ITEMS)
    throw invalid(request, `the page has ${items} items, but at most 50 are allowed`);
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { issues } = result.error;
  const shown = issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `${path.join(".") || "body"}: ${message}`.slice(0, MAX_CHARACTERS));
  const more = issues.length > MAX_ISSUES ? [`and ${issues.length - MAX_ISSUES} more`] : [];
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
