import type { Client } from "../client/client.ts";
import { NotFoundError } from "../client/errors.ts";
import { readPages } from "../client/listing.ts";
import type { Comment, Image, Message, Page, Post } from "../client/resources.ts";
import { minOf } from "../core/extremes.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "../events/id.ts";
import { actorOf, conversationOf, foldUsername } from "../events/lane.ts";
import type { Actor, AnyEvent } from "../events/types.ts";

/** An event's complete message, post or comment. */
export interface ReceivedMessage {
  /** Id of the message, post or comment. */
  readonly id: string;
  /** Empty for a deleted message, and for images without text. */
  readonly text: string;
  /** Empty if there are no images. */
  readonly images: readonly Image[];
  /** Author, as named in the event. In a conversation, this is the bot's peer. */
  readonly author: Actor;
  /** ISO 8601, UTC. Empty if the platform does not send it. */
  readonly createdAt: string;
}

/** Pages of 50. A new message is on the first page, but the order of comments is not documented. */
const MAX_PAGES = 5;

/**
 * Reads an event's message, post or comment. Section 6 of the platform document specifies neither the length of an
 * excerpt nor how truncation is marked, so any excerpt may be incomplete.
 *
 * @returns `undefined` if the message was deleted, or is not among the 250 newest
 * @throws {ServiceBotError} REPLY_IMPOSSIBLE if the event names neither a conversation nor a post
 */
export async function readMessage(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
): Promise<ReceivedMessage | undefined> {
  const found = await read(client, event, signal);
  if (found === undefined) return undefined;
  const { id, text, images, createdAt = "" } = found;
  return { id, text, images, author: authorOf(event), createdAt };
}

/** Returns whether the event names a conversation or post from which its text can be read. */
export function hasMessage(event: AnyEvent): boolean {
  return messageIdsOf(event) !== undefined;
}

type MessageIds =
  | { readonly conversationId: string }
  | { readonly postId: string; readonly commentId: string | undefined };

/** Reads fields instead of the type, because events of newer types have a text as well. */
function messageIdsOf(event: AnyEvent): MessageIds | undefined {
  const conversationId = conversationOf(event);
  if (conversationId !== undefined) return { conversationId };
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const { entityType, entityId } = payload;
  const of = (kind: string) => (entityType === kind ? idText(entityId) : undefined);
  const commentId = idText(payload["commentId"]) ?? of("comment");
  // The entity is the new post. A quote also names the post it quotes.
  const written = commentId === undefined ? of("post") : undefined;
  const postId = written ?? idText(payload["postId"]);
  return postId === undefined ? undefined : { postId, commentId };
}

async function read(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
): Promise<Message | Post | undefined> {
  const ids = messageIdsOf(event);
  if (ids === undefined) throw textless(event);
  const limit = 50;
  const excerpt = new Excerpt(event);
  if ("conversationId" in ids) {
    const readPage = (cursor: string | undefined) =>
      client.dms.messages(ids.conversationId, { limit, cursor, signal });
    // Pages run from newest to oldest, so the search can stop at a message older than the event. A text that merely
    // begins with the excerpt may belong to a later message.
    const isEnough = (messages: readonly Message[]) =>
      messages.some((message) => excerpt.equals(message.text) || isOlder(message, event));
    return nearest(event, excerpt, await readUntil(readPage, event, isFromPeer, isEnough));
  }
  const { postId, commentId } = ids;
  try {
    if (commentId === undefined) return await client.posts.get(postId, { signal });
    const isMeant = (comment: Comment) => comment.id === commentId && isByActor(comment, event);
    const readPage = (cursor: string | undefined) =>
      client.posts.comments(postId, { limit, cursor, signal });
    const isEnough = (comments: readonly Comment[]) => comments.some(isMeant);
    const comments = await readUntil(readPage, event, isByActor, isEnough);
    // A reply's `commentId` may be that of its parent comment, which has another author.
    return comments.find(isMeant) ?? nearest(event, excerpt, comments);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** Reads pages until `isEnough` returns true. Returns the items that pass the filter, in order. */
async function readUntil<T extends Message | Post>(
  readPage: (cursor: string | undefined) => PromiseLike<Page<T>>,
  event: AnyEvent,
  filter: (item: T, event: AnyEvent) => boolean,
  isEnough: (items: readonly T[]) => boolean,
): Promise<readonly T[]> {
  const kept: T[] = [];
  for await (const { items } of readPages(async (cursor) => await readPage(cursor), MAX_PAGES)) {
    for (const item of items) if (filter(item, event)) kept.push(item);
    if (isEnough(kept)) break;
  }
  return kept;
}

/**
 * Finds the message behind an event that contains no message id. The message has the event's author and was created at
 * about the same time. Its text equals the excerpt or begins with it.
 */
function nearest<T extends Message | Post>(
  event: AnyEvent,
  excerpt: Excerpt,
  items: readonly T[],
): T | undefined {
  // Dates may be wrong, for example in a test with an old event. An equal text is then enough.
  const isNear = (item: T) => distance(event, item) <= EVENT_DELAY_MS;
  const near = items.filter(
    (item) => isNear(item) || (item.text !== "" && excerpt.equals(item.text)),
  );
  const ranks = near.map((item) => excerpt.rankOf(item.text));
  const best = minOf(ranks);
  // An empty excerpt means that the message contains only images. Without an excerpt field, any text may match.
  if (best > 0 && excerpt.isEmpty) return undefined;
  return near
    .filter((_item, index) => ranks[index] === best)
    .sort((a, b) => distance(event, a) - distance(event, b))[0];
}

/** An event's excerpt, which is prepared once for comparisons with many texts. */
class Excerpt {
  readonly isEmpty: boolean;
  /** `undefined` if the event has no excerpt field. */
  readonly #text: string | undefined;
  readonly #beginning: string;

  constructor(event: AnyEvent) {
    const text = excerptOf(event);
    this.isEmpty = hasExcerpt(event) && text === "";
    this.#text = hasExcerpt(event) ? spaced(text) : undefined;
    this.#beginning = spaced(text.replace(/(?:…|\.\.\.)$/, ""));
  }

  equals(text: string): boolean {
    return spaced(text) === this.#text;
  }

  /**
   * Ranks a text. 0: it equals the excerpt. 1: it begins with the excerpt, or was deleted. 2: any other text, because
   * the platform may rewrite excerpts.
   */
  rankOf(text: string): number {
    if (this.equals(text)) return 0;
    return text === "" || spaced(text).startsWith(this.#beginning) ? 1 : 2;
  }
}

/** Returns the time between the event and the message in ms, or 0 if a date is missing. */
function distance(
  event: AnyEvent,
  { createdAt = "" }: { readonly createdAt?: string | undefined },
): number {
  const ms = Math.abs(Date.parse(createdAt) - Date.parse(event.createdAt));
  return Number.isNaN(ms) ? 0 : ms;
}

/** Maximum delay between a message and the platform's event about it, in ms. */
const EVENT_DELAY_MS = 60_000;

function isOlder({ createdAt }: Message, event: AnyEvent): boolean {
  return Date.parse(createdAt) < Date.parse(event.createdAt) - EVENT_DELAY_MS;
}

function isFromPeer({ fromBot, authorUsername }: Message, event: AnyEvent): boolean {
  return !fromBot && isAuthor(authorUsername, event);
}

function isByActor({ author }: Comment, event: AnyEvent): boolean {
  return isAuthor(author?.username, event);
}

/** Also returns true if the platform does not name the author. */
function isAuthor(username: string | undefined, event: AnyEvent): boolean {
  const actor = actorOf(event);
  return !username || actor === undefined || foldUsername(username) === foldUsername(actor);
}

/** Collapses white space, because the platform may join the lines of an excerpt. */
function spaced(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export function excerptOf({ payload }: AnyEvent): string {
  return "excerpt" in payload && typeof payload.excerpt === "string" ? payload.excerpt : "";
}

function hasExcerpt({ payload }: AnyEvent): boolean {
  return "excerpt" in payload && typeof payload.excerpt === "string";
}

function authorOf(event: AnyEvent): Actor {
  const { actor, from }: Readonly<Record<string, unknown>> = { ...event.payload };
  const { name }: { readonly name?: unknown } = { ...Object(actor ?? from) };
  const username = actorOf(event) ?? "";
  return { username, name: typeof name === "string" && name !== "" ? name : username };
}

function textless({ type }: AnyEvent): ServiceBotError {
  return new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `The ${type} event names neither a conversation nor a post, so it has no text.`,
  );
}
