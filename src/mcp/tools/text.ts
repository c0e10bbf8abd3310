import { post } from "../../client/schemas.ts";
import type { Conversation, Image, Message, Post, SearchHit } from "../../client/types.ts";
import { printable } from "../../core/safe-text.ts";
import type { AnyEvent } from "../../events/types.ts";

// Texts of people stand in quotation marks on one line, so that none can pass for a part of the answer.

/** Writes a value as JSON on one line. A text in it cannot leave its quotation marks. */
export function quote(value: unknown): string {
  return printable(JSON.stringify(value));
}

/** Writes a word as it is, quoted if it could be mistaken for something else. */
export function showWord(text: string): string {
  return /^[\w@.:/+=~?&%#,-]+$/.test(text) ? text : quote(text);
}

/** Describes a post or a comment. */
export function showPost({ id, author, createdAt, text, images }: Post): string {
  const parts = [author && showUsername(author.username), showTime(createdAt)];
  return [firstLine(id, parts, text), ...images.map(showImage)].join("\n");
}

export function showMessage(message: Message): string {
  const { id, fromBot, authorUsername, createdAt, replyToId, text, images } = message;
  const author = showUsername(authorUsername) + (fromBot ? " (this bot)" : "");
  const answers = replyToId === null ? undefined : `in answer to ${showWord(replyToId)}`;
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

/** Returns a search hit as the post that it is, if it looks like one. */
export function postIn(hit: SearchHit): Post | undefined {
  return post.safeParse(hit).data;
}

export function showHit(hit: SearchHit): string {
  const found = postIn(hit);
  return found ? showPost(found) : `- ${showFields(hit).replaceAll("\n", "; ")}`;
}

export function showEvent({ id, type, createdAt, payload }: AnyEvent): string {
  return `${firstLine(id, [showWord(type), showTime(createdAt)])}\n  ${quote(payload)}`;
}

/** Fields whose values people cannot choose. */
const ofThePlatform = /^(id|key|type|username|url)$|(Id|At|Url)$/;

/** Writes the plain fields of an object whose shape is not documented, one a line. */
export function showFields(fields: object): string {
  return Object.entries(fields)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => {
      const isWord = typeof value === "string" && ofThePlatform.test(name);
      return `${showWord(name)}: ${isWord ? showWord(value) : quote(value)}`;
    })
    .join("\n");
}

/** Writes the first line of an item: its id, its facts, its text. */
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
