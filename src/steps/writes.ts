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

/** The writes of the API as steps: how to make each, and how to find it again after a crash. */

export interface WriteScope {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** In ms. The API finishes what it began when the deadline passed. */
const SETTLE_MS = 1_000;

/** In ms. An unattached upload is gone after an hour (section 3), and the retry that uses it needs some of that. */
const UPLOAD_VALID_MS = 45 * 60_000;

/**
 * A reply to an event: a message to a message, a comment to activity on a post.
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
  // The values of entityType are not documented; "post" is the type that posts carry (section 2).
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

/** A direct message in a conversation. */
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

/** A comment on a post. */
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

/** A post. */
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

/** An upload. It is repeated rather than looked for, because an unused one costs nothing. */
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

/** Differences between the kinds of writes. */
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
  // The platform's time of the intent. The bot's own of that moment is lost once its clock has been set.
  const request = () => {
    const imageCount = images.length + imageKeys.length;
    return JSON.stringify({
      ...{ text, imageCount, ...place, at: client.platformNow() },
    } satisfies WriteFingerprint);
  };
  // Images are uploaded and attached, and both once more if a key has expired.
  const calls = images.length === 0 ? 1 : 4;
  return {
    name,
    repeatable: false,
    run: async () => {
      const result = await send();
      return { result, ref: result.id && refOf(kind, result.id) };
    },
    search: {
      request,
      find,
      inFlightMs: calls * client.longestCallMs + SETTLE_MS,
    },
  };
}

/** Types that one comment can have at once (section 6). */
const COMMENT_TYPES: ReadonlySet<string> = new Set(["mention", "comment", "reply"]);

/**
 * Names the comment that an event is about, so that one of several events of a comment is answered. `undefined` if the
 * event names no comment. The document does not say whether the `commentId` of a `reply` is the new comment or the one
 * above. In the second case, two replies of one person have one name. They also have one type, and a comment makes only
 * one event of each type.
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
