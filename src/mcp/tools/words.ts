import { post } from "../../client/schemas.ts";
import type { Conversation, Image, Message, Post, Profile, SearchHit } from "../../client/types.ts";
import type { AnyEvent } from "../../events/types.ts";
import { quoted } from "../plain-text.ts";

// What others wrote is in quotation marks and on one line: whatever it says, it cannot pass for a part of the answer.

/** A post or a comment. */
export function postWords({ id, author, createdAt, text, images }: Post): string {
  return [head(id, [at(author?.username), when(createdAt)], text), ...imageWords(images)].join(
    "\n",
  );
}

export function messageWords(message: Message): string {
  const { id, fromBot, authorUsername, createdAt, replyToId, text, images } = message;
  const who = fromBot ? `${at(authorUsername)} (this bot)` : at(authorUsername);
  const answers = replyToId === null ? undefined : `in answer to ${word(replyToId)}`;
  return [head(id, [who, when(createdAt), answers], text), ...imageWords(images)].join("\n");
}

export function conversationWords({ id, peer, lastMessageAt, lastMessage }: Conversation): string {
  const who = `with ${at(peer.username)} ${quoted(peer.name)}${peer.isBot ? " (a bot)" : ""}`;
  const line = head(id, [who, when(lastMessageAt)]);
  if (lastMessage === null) return line;
  const from = lastMessage.fromBot ? "this bot" : at(peer.username);
  return `${line}\n  last, from ${from}: ${quoted(lastMessage.text)}`;
}

/** An account. Which fields it has is not documented: those that are plain are told. */
export function profileWords(profile: Profile): string {
  return plainFields(profile);
}

/** A hit that is a post, as far as it is like one. */
export function postIn(hit: SearchHit): Post | undefined {
  return post.safeParse(hit).data;
}

export function hitWords(hit: SearchHit): string {
  const found = postIn(hit);
  if (found !== undefined) return postWords(found);
  return `- ${plainFields(hit).replaceAll("\n", "; ")}`;
}

export function eventWords({ id, type, createdAt, payload }: AnyEvent): string {
  return `${head(id, [word(type), when(createdAt)])}\n  ${quoted(payload)}`;
}

/** Fields in which nobody can write what they like. */
const ofThePlatform = /^(id|key|type|username|url)$|(Id|At|Url)$/;

/** `field: value` for what is no object and no list, a line each. */
export function plainFields(fields: object): string {
  return Object.entries(fields)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => `${word(name)}: ${fieldWords(name, value)}`)
    .join("\n");
}

function fieldWords(name: string, value: unknown): string {
  return typeof value === "string" && ofThePlatform.test(name) ? word(value) : quoted(value);
}

/** The line that an item begins with: its id, what else there is of it, and its text. */
function head(id: string, parts: readonly (string | undefined)[], text?: string): string {
  const told = [word(id), ...parts.filter((part) => part !== undefined)];
  return `- ${told.join(" · ")}${text === undefined ? "" : `: ${quoted(text)}`}`;
}

/** When it was; nothing where the platform does not say. */
function when(time: string | undefined): string | undefined {
  return time === undefined || time === "" ? undefined : word(time);
}

function imageWords(images: readonly Image[]): string[] {
  return images.map(({ url, width, height }) => {
    const size = width === undefined || height === undefined ? "" : ` (${width} x ${height})`;
    return `  image ${word(url)}${size}`;
  });
}

function at(username: string): string;
function at(username: string | undefined): string | undefined;
function at(username: string | undefined): string | undefined {
  if (username === undefined) return undefined;
  if (username === "") return "somebody";
  return /^[\w.-]+$/.test(username) ? `@${username}` : quoted(`@${username}`);
}

/** A word as it is where nothing in it could be taken for something else, and quoted where it could. */
export function word(text: string): string {
  return /^[\w@.:/+=~?&%#,-]+$/.test(text) ? text : quoted(text);
}
