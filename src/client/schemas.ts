import * as z from "../core/zod.ts";
import { ServiceBotError } from "../errors.ts";
import type {
  Conversation,
  Image,
  Message,
  Page,
  Post,
  Profile,
  SearchHit,
  SentMessage,
  SentPost,
  Upload,
} from "./types.ts";

/** An id: a text for handlers, even if the platform sends a number. */
const id: z.ZodType<string> = z.preprocess(
  (value) => (typeof value === "number" ? String(value) : value),
  z.string(),
);
const text = z.string();
/** A documented text that handlers can do without: empty if the platform sends null or nothing. */
const words: z.ZodType<string> = z.preprocess((value) => value ?? "", z.string());
const orUndefined = <T>(schema: z.ZodType<T>): z.ZodType<T | undefined> =>
  z.preprocess((value) => value ?? undefined, schema.optional());

/** A missing or empty cursor counts as the last page. Sent back empty, it would request the first page again. */
const cursor = z.preprocess((value) => (value === "" ? null : value), id.nullable().default(null));

/** A field that is not documented: left out if its type is unexpected, so that it breaks no bot. */
const perhaps = <T>(schema: z.ZodType<T>): z.ZodType<T | undefined> =>
  orUndefined(schema).catch(undefined);
const perhapsId = perhaps(id);

const image: z.ZodType<Image> = z.looseObject({
  url: text,
  thumbUrl: z.string().nullish(),
  width: perhaps(z.number()),
  height: perhaps(z.number()),
});
const images: z.ZodType<Image[]> = z.preprocess((value) => value ?? [], z.array(image));

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

/** Posts and comments have one shape, as far as it is documented. */
export const post: z.ZodType<Post> = z.looseObject({
  id,
  type: orUndefined(text),
  text: words,
  images,
  createdAt: perhaps(text),
  author: perhaps(z.looseObject({ username: text })),
});

export const sentMessage: z.ZodType<SentMessage> = z.looseObject({
  id,
  conversationId: z.preprocess((value) => value ?? "", id),
  createdAt: words,
});

// Section 4 does not show the answers of these two. Any answer is valid, and its id is optional.
export const sentPost: z.ZodType<SentPost> = z
  .looseObject({ id: perhapsId })
  .catch({ id: undefined });
export const profile: z.ZodType<Profile> = z.looseObject({
  id: perhapsId,
  username: perhaps(text),
  name: perhaps(text),
  avatarUrl: z.string().nullish().catch(undefined),
  isBot: perhaps(z.boolean()),
});

export const searchHit: z.ZodType<SearchHit> = z.looseObject({
  id: perhapsId,
  type: perhaps(text),
});

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

export const upload: z.ZodType<Upload> = z.looseObject({
  key: text,
  url: words,
  thumbUrl: z.string().nullish(),
  width: perhaps(z.number()),
  height: perhaps(z.number()),
  bytes: perhaps(z.number()),
});

export const eventPage: z.ZodType<{ events: unknown[]; cursor: string }> = z.looseObject({
  events: z.array(z.unknown()),
  cursor: id,
});

/** A page as the document shows it for conversations and messages. */
export function documentedPageOf<T>(item: z.ZodType<T>): z.ZodType<Page<T>> {
  return z.looseObject({ items: z.array(item), nextCursor: cursor });
}

/** A page of a listing that the document does not show. */
export function pageOf<T>(item: z.ZodType<T>): z.ZodType<Page<T>> {
  const page = documentedPageOf(item);
  // The listings under "Other read endpoints" are not documented; a bare array is a single page.
  return z.preprocess((body) => (Array.isArray(body) ? { items: body } : body), page);
}

/** A longer list is not checked item by item. The platform sends 50 items at most (section 8). */
const MAX_ITEMS = 1_000;

/** Maximum number of problems that an error names, and characters of each. */
const MAX_ISSUES = 5;
const MAX_CHARACTERS = 200;

/**
 * Checks an answer. A new field never breaks a bot; a missing one is named by its path.
 *
 * @throws {ServiceBotError} API_INVALID_RESPONSE
 */
export function check<T>(schema: z.ZodType<T>, body: unknown, request: string): T {
  const items = itemsIn(body);
  if (items > MAX_ITEMS) throw invalid(request, `it has ${items} items, and a page 50 at most`);
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
  return Math.max(...[items, events].map((list) => (Array.isArray(list) ? list.length : 0)));
}

function invalid(request: string, what: string): ServiceBotError {
  const message = `${request}: the answer is not as documented: ${what}`;
  return new ServiceBotError("API_INVALID_RESPONSE", message);
}
