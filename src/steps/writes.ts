import { createHash } from "node:crypto";
import type { Client } from "../client/client.ts";
import type {
  ImageInput,
  OutgoingMessage,
  Sent,
  SentComment,
  SentMessage,
  SentPost,
  Upload,
} from "../client/resources.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "../events/id.ts";
import { actorOf, conversationOf } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";
import { findComments, findMessages, findPosts } from "./find.ts";
import { type Place, refOf, type WriteFingerprint } from "./fingerprint.ts";
import type { Search, Step, Subject } from "./step.ts";

/** API writes as steps: how to send each write, and how to find its effect after a crash. */

export interface WriteScope {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** Time after the deadline during which the platform may still finish a request, in ms. */
const SETTLE_MS = 1_000;

/**
 * Lifetime of an upload's key, in ms. An unattached upload expires after an hour (section 3 of the platform document),
 * and the retry that attaches it needs some of that time.
 */
const UPLOAD_VALID_MS = 45 * 60_000;

/**
 * Returns a reply as a step: a message in reply to a message, or a comment in reply to activity on a post.
 *
 * @throws {ServiceBotError} REPLY_IMPOSSIBLE if the event names neither a conversation nor a post
 */
export function replyStep(
  name: string,
  event: AnyEvent,
  message: OutgoingMessage,
  scope: WriteScope,
): Step<Sent> {
  const conversationId = conversationOf(event);
  if (conversationId !== undefined) return messageStep(name, conversationId, message, scope);
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  // The platform document does not list the values of entityType. "post" is the type of a post in its section 2.
  const ofPost = payload["entityType"] === "post" ? payload["entityId"] : undefined;
  const postId = idText(payload["postId"]) ?? idText(ofPost);
  if (postId !== undefined) {
    return { ...commentStep(name, postId, message, scope), subject: subjectOf(event) };
  }
  throw new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `The ${event.type} event names no conversation and no post, so the bot cannot reply. ` +
      "Use ctx.comment() or ctx.client instead.",
  );
}

export function messageStep(
  name: string,
  conversationId: string,
  message: OutgoingMessage,
  { client, signal }: WriteScope,
): Step<SentMessage> {
  return writeStep(name, message, client, {
    kind: "dm",
    place: { conversationId },
    send: () => client.dms.send(conversationId, message, { signal }),
    find: (intent) => findMessages(client, conversationId, intent, signal),
  });
}

export function commentStep(
  name: string,
  postId: string,
  message: OutgoingMessage,
  { client, signal }: WriteScope,
): Step<SentComment> {
  return writeStep(name, message, client, {
    kind: "comment",
    place: { postId },
    send: () => client.posts.comment(postId, message, { signal }),
    find: (intent) => findComments(client, postId, intent, signal),
  });
}

export function postStep(
  name: string,
  message: OutgoingMessage,
  { client, signal }: WriteScope,
): Step<SentPost> {
  return writeStep(name, message, client, {
    kind: "post",
    place: {},
    send: () => client.posts.create(message, { signal }),
    find: (intent) => findPosts(client, intent, signal),
  });
}

/**
 * Returns an upload as a step. An upload is repeated instead of searched for, because an unused upload costs nothing.
 */
export function uploadStep(
  name: string,
  image: ImageInput,
  { client, signal }: WriteScope,
): Step<Upload> {
  return {
    name,
    run: async () => ({ result: await client.upload(image, { signal }) }),
    repeatable: true,
    validForMs: UPLOAD_VALID_MS,
  };
}

/** Properties that differ between the kinds of writes. */
interface Write<T> extends Pick<Search<T>, "find"> {
  readonly kind: "dm" | "comment" | "post";
  readonly place: Place;
  send(): Promise<T>;
}

function writeStep<T extends { readonly id?: string | undefined }>(
  name: string,
  { text, images = [], imageKeys = [] }: OutgoingMessage,
  client: Client,
  { kind, place, send, find }: Write<T>,
): Step<T> {
  // With images, a write takes two calls: the upload and the send. Both are repeated if a key has expired.
  const calls = images.length === 0 ? 1 : 4;
  const inFlightMs = calls * client.longestCallMs + SETTLE_MS;
  // Record the platform's time, because the bot's clock may be set in the meantime.
  const request = () => {
    const imageCount = images.length + imageKeys.length;
    return JSON.stringify({
      text,
      imageCount,
      ...place,
      at: client.platformNow(),
      inFlightMs,
    } satisfies WriteFingerprint);
  };
  return {
    name,
    repeatable: false,
    run: async () => {
      const result = await send();
      return { result, ref: result.id && refOf(kind, result.id) };
    },
    search: { request, find, inFlightMs },
  };
}

/** Event types that one comment can cause at the same time (section 6 of the platform document). */
const COMMENT_TYPES: ReadonlySet<string> = new Set(["mention", "comment", "reply"]);

/**
 * Returns an event's subject, or `undefined` if the event names no comment. The subject is its comment, so that only
 * one of the events about a comment gets a reply.
 *
 * The platform document does not define whether the `commentId` of a `reply` is the new comment or its parent. If it is
 * the parent, two replies by one user share a ref. They also share a type, and a comment causes only one event of each
 * type, so `kindRef` distinguishes them.
 */
export function subjectOf(event: AnyEvent): Subject | undefined {
  if (!COMMENT_TYPES.has(event.type)) return undefined;
  const { commentId, entityType, entityId }: Readonly<Record<string, unknown>> = {
    ...event.payload,
  };
  const id = idText(commentId) ?? (entityType === "comment" ? idText(entityId) : undefined);
  if (id === undefined) return undefined;
  const content = JSON.stringify([id, actorOf(event)]);
  const ref = `content:${createHash("sha256").update(content).digest("base64url")}`;
  return { ref, kindRef: `${ref}:${event.type}` };
}
