import type { Listing } from "../client/listing.ts";
import {
  type Conversation,
  type Image,
  type Message,
  type Page,
  type PageOptions,
  type Post,
  post,
  type SearchHit,
} from "../client/resources.ts";
import { printable } from "../core/safe-text.ts";
import { readShape } from "../core/shapes.ts";
import type { AnyEvent } from "../events/types.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

// Quote users' text on one line, so that it cannot pass for part of the result.

/** Formats a value as JSON on one line. Text inside it cannot close the quotation marks. */
export function quote(value: unknown): string {
  return printable(JSON.stringify(value));
}

/** Returns a word unchanged, or quoted if it contains unusual characters. */
export function showWord(text: string): string {
  return /^[\w@.:/+=~?&%#,-]+$/.test(text) ? text : quote(text);
}

export function showPost({ id, author, createdAt, text, images }: Post): string {
  const parts = [author && showUsername(author.username), showTime(createdAt)];
  return [firstLine(id, parts, text), ...images.map(showImage)].join("\n");
}

export function showMessage(message: Message): string {
  const { id, fromBot, authorUsername, createdAt, replyToId, text, images } = message;
  const author = showUsername(authorUsername) + (fromBot ? " (this bot)" : "");
  const answers = replyToId === null ? undefined : `in reply to ${showWord(replyToId)}`;
  const head = firstLine(id, [author, showTime(createdAt), answers], text);
  return [head, ...images.map(showImage)].join("\n");
}

export function showConversation({ id, peer, lastMessageAt, lastMessage }: Conversation): string {
  const { username, name, isBot } = peer;
  const who = `with ${showUsername(username)} ${quote(name)}${isBot ? " (a bot)" : ""}`;
  const head = firstLine(id, [who, showTime(lastMessageAt)]);
  if (lastMessage === null) return head;
  const from = lastMessage.fromBot ? "this bot" : showUsername(username);
  return `${head}\n  last, from ${from}: ${quote(lastMessage.text)}`;
}

export function postIn(hit: SearchHit): Post | undefined {
  const result = readShape(post, hit);
  return result.ok ? result.value : undefined;
}

export function showHit(hit: SearchHit): string {
  const found = postIn(hit);
  return found ? showPost(found) : `- ${showFields(hit).replaceAll("\n", "; ")}`;
}

export function showEvent({ id, type, createdAt, payload }: AnyEvent): string {
  return `${firstLine(id, [showWord(type), showTime(createdAt)])}\n  ${quote(payload)}`;
}

/** Names of fields whose values users cannot choose. */
const ofThePlatform = /^(id|key|type|username|url)$|(Id|At|Url)$/;

/** Formats an object's primitive fields, one per line. Quotes values that users can choose. */
export function showFields(fields: object): string {
  return Object.entries(fields)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => {
      const isWord = typeof value === "string" && ofThePlatform.test(name);
      return `${showWord(name)}: ${isWord ? showWord(value) : quote(value)}`;
    })
    .join("\n");
}

function firstLine(id: string, parts: readonly (string | undefined)[], text?: string): string {
  const facts = [showWord(id), ...parts.filter((part) => part !== undefined)].join(" · ");
  return `- ${facts}${text === undefined ? "" : `: ${quote(text)}`}`;
}

function showTime(time: string | undefined): string | undefined {
  return time === undefined || time === "" ? undefined : showWord(time);
}

function showImage({ url, width, height }: Image): string {
  const size = width === undefined || height === undefined ? "" : ` (${width} x ${height})`;
  return `  image ${showWord(url)}${size}`;
}

function showUsername(username: string): string {
  if (username === "") return "somebody";
  return /^[\w.-]+$/.test(username) ? `@${username}` : quote(`@${username}`);
}

/** Maximum length of all items in a result, in JSON characters: about 10,000 tokens. */
const MAX_RESULT_LENGTH = 40_000;

interface PageInput {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface Items<T> {
  readonly names: readonly [string, string];
  readonly show: (item: T) => string;
  readonly images?: (item: T) => readonly Image[];
}

/**
 * Reads and formats a page. If the page is too long, requests it again with as many items as fit, so that the cursor
 * points after the last of them. Never truncates an item.
 */
export async function readPage<T>(
  list: (options: PageOptions) => Listing<T>,
  { limit, cursor }: PageInput,
  { signal }: ToolContext,
  { names, show, images }: Items<T>,
): Promise<ToolResult<Page<T>>> {
  let page: Page<T> = await list({ limit, cursor, signal });
  const asked = page.items.length;
  for (let fits = fitting(page.items); fits < page.items.length; fits = fitting(page.items)) {
    const shorter: Page<T> = await list({ limit: fits, cursor, signal });
    // The platform may ignore the limit. A long result is better than a wrong cursor.
    if (shorter.items.length >= page.items.length) break;
    page = shorter;
  }
  // Omit the page's undocumented fields.
  const { items, nextCursor } = page;
  const lines = [
    countItems(items.length, names, asked),
    ...(fitting(items) < items.length
      ? ["The page is long because the platform cannot return a shorter one."]
      : []),
    ...items.map(show),
    nextCursor === null
      ? "No more items."
      : `For more items, call again with cursor ${showWord(nextCursor)}.`,
  ];
  return {
    value: { items, nextCursor },
    text: lines.join("\n"),
    ...(images && { images: items.flatMap(images) }),
  };
}

export function fitting(items: readonly unknown[]): number {
  let length = 0;
  const tooMany = items.findIndex((item) => {
    length += JSON.stringify(item)?.length ?? 0;
    return length > MAX_RESULT_LENGTH;
  });
  return tooMany < 0 ? items.length : Math.max(1, tooMany);
}

export function countItems(
  count: number,
  [one, many]: readonly [string, string],
  before: number,
): string {
  const cut = count < before ? ` of ${before} (together they are too long)` : "";
  return `${count} ${count === 1 ? one : many}${cut}.`;
}
