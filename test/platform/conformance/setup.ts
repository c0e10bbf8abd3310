import { setImmediate } from "node:timers/promises";
import { image } from "../support/images.ts";
import { control, read, write } from "./http.ts";
import type { Content, Event, EventPage, Sent, Upload } from "./wire.ts";
import { everyScope, type Scope, type World } from "./world.ts";

export interface Done {
  readonly events: readonly Event[];
  readonly conversationId?: string;
  readonly messageId?: string;
  readonly postId?: string;
  readonly commentId?: string;
}

/** Performs an action as ada, unless `more` names another user. */
export function act(
  world: World,
  type: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Done> {
  return control<Done>(world, "POST", "/act", { type, from: "ada", ...more });
}

export async function eventOf<Payload>(done: Promise<Done>): Promise<Event<Payload>> {
  const { events } = await done;
  const [event] = events;
  if (event === undefined || events.length > 1) throw new Error(`not one: ${events.length}`);
  return event as Event<Payload>;
}

export async function conversationWith(world: World, from = "ada", text = "hi"): Promise<string> {
  return (await act(world, "dm.message", { from, text })).conversationId ?? "";
}

export async function conversationOfOthers(world: World): Promise<string> {
  await tokenOfOtherApp(world);
  return (await act(world, "dm.message", { to: "other" })).conversationId ?? "";
}

export async function groupWithBot(world: World): Promise<string> {
  const made = await control<{ conversationId: string }>(world, "POST", "/groups", {
    members: ["ada", "ben", "bot"],
  });
  return made.conversationId;
}

export async function tokenWith(world: World, ...scopes: readonly Scope[]): Promise<string> {
  return (await control<{ apiKey: string }>(world, "POST", "/tokens", { scopes })).apiKey;
}

export async function tokenOfOtherApp(world: World): Promise<string> {
  const body = { scopes: everyScope, bot: "other" };
  return (await control<{ apiKey: string }>(world, "POST", "/tokens", body)).apiKey;
}

export function newPost(world: World, body: unknown = { text: "a post" }): Promise<Content> {
  return write<Content>(world, "/posts", body);
}

/** Creates a comment on `postId`, or on a new post by default. */
export async function newComment(
  world: World,
  body: unknown = { text: "a comment" },
  postId?: string,
): Promise<Content> {
  return write<Content>(world, `/posts/${postId ?? (await newPost(world)).id}/comments`, body);
}

export function messagesOf(conversation: string): string {
  return `/dm/conversations/${conversation}/messages`;
}

export function sendMessage(world: World, conversation: string, body: unknown): Promise<Sent> {
  return write<Sent>(world, messagesOf(conversation), body);
}

export async function writePaths(world: World): Promise<[string, string, string]> {
  const { id } = await newPost(world);
  return ["/posts", `/posts/${id}/comments`, messagesOf(await conversationWith(world))];
}

export function rawBytes(bytes: Buffer, contentType = "image/png"): Record<string, string> {
  return { dataBase64: bytes.toString("base64"), contentType };
}

export async function newUpload(world: World, token?: string): Promise<Upload> {
  return write<Upload>(world, "/uploads", rawBytes(await image()), token);
}

export async function newKeys(world: World, count: number): Promise<string[]> {
  const uploads = await Promise.all(Array.from({ length: count }, () => newUpload(world)));
  return uploads.map(({ key }) => key);
}

export async function advance(world: World, ms: number): Promise<void> {
  await control(world, "PUT", "/clock", { advanceMs: ms });
  // If the platform runs in this process, the response arrives before due timers have started.
  await setImmediate();
}

/** Stops the platform's clock, so that no minute or day ends during a test. */
export async function freeze(world: World): Promise<void> {
  await control(world, "PUT", "/clock", { frozen: true });
}

export async function now(world: World): Promise<number> {
  return Date.parse((await control<{ now: string }>(world, "GET", "/clock")).now);
}

export async function setLimits(world: World, limits: Record<string, number>): Promise<void> {
  await control(world, "PUT", "/limits", limits);
}

export function events(world: World, query = "", token?: string): Promise<EventPage> {
  return read<EventPage>(world, `/events${query}`, token);
}

export function idsOf(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}

export const SECOND = 1_000;
export const MINUTE: number = 60 * SECOND;
export const HOUR: number = 60 * MINUTE;
export const DAY: number = 24 * HOUR;
