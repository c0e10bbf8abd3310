import type { Client } from "../client/client.ts";
import type { ImageInput } from "../client/images/source.ts";
import type {
  OutgoingMessage,
  SentComment,
  SentMessage,
  SentPost,
  Upload,
} from "../client/types.ts";
import type { Effect, Step } from "../core/step.ts";
import { type Asked, asksElse, type Kind, refOf } from "./adopt.ts";
import { findPost } from "./find-post.ts";
import { findComment, findMessage } from "./find-reply.ts";

/** The writes of the API as steps: how to do each, and how to find it again after a crash. */

/** What every write of a run needs. */
export interface WriteScope {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** The API needs a moment to finish what it began when the deadline passed, in milliseconds. */
const SETTLE_MS = 1_000;

/**
 * An upload that is attached to nothing is gone after an hour (section 3). The retry that uses it
 * needs some of that hour for itself. In milliseconds.
 */
const UPLOAD_VALID_MS = 45 * 60_000;

/** A text alone is a message without images. */
export function outgoingOf(message: string | OutgoingMessage): OutgoingMessage {
  return typeof message === "string" ? { text: message } : message;
}

export function messageStep(
  name: string,
  conversationId: string,
  message: OutgoingMessage,
  { client, signal }: WriteScope,
): Step<SentMessage> {
  return {
    ...write(name, client, message, { conversationId }),
    place: () => `dm:${conversationId}`,
    run: async () => named("dm", await client.dms.send(conversationId, message, { signal })),
    find: (intent) => findMessage(client, conversationId, intent, signal),
  };
}

export function commentStep(
  name: string,
  postId: string,
  message: OutgoingMessage,
  { client, signal }: WriteScope,
): Step<SentComment> {
  return {
    ...write(name, client, message, { postId }),
    place: (request) => `post:${postOf(request)}`,
    run: async () => named("comment", await client.posts.comment(postId, message, { signal })),
    find: (intent) => findComment(client, postOf(intent.request), intent, signal),
  };
}

export function postStep(
  name: string,
  message: OutgoingMessage,
  { client, signal }: WriteScope,
): Step<SentPost> {
  return {
    ...write(name, client, message),
    place: () => "posts",
    run: async () => named("post", await client.posts.create(message, { signal })),
    find: (intent) => findPost(client, intent, signal),
  };
}

/** Uploads are repeated rather than looked for: one that is not used costs nothing. */
export function uploadStep(
  name: string,
  image: ImageInput,
  { client, signal }: WriteScope,
): Step<Upload> {
  return {
    name,
    request: () => "",
    run: async () => ({ result: await client.upload(image, { signal }) }),
    inFlightMs: 0,
    repeatable: true,
    validForMs: UPLOAD_VALID_MS,
  };
}

/** Where the run that made the request wanted it, which need not be where this one does. */
function postOf(request: string): string {
  const { postId }: { postId: string } = JSON.parse(request);
  return postId;
}

function write(
  name: string,
  client: Client,
  { text, images = [], imageKeys = [] }: OutgoingMessage,
  where: object = {},
) {
  const imageCount = images.length + imageKeys.length;
  // Images are uploaded and attached, and both once more should a key have expired.
  const calls = images.length === 0 ? 1 : 4;
  // The platform's time of the intent, because ours of that moment is lost once the clock has been set.
  const request = () =>
    JSON.stringify({ text, imageCount, ...where, at: client.platformNow() } satisfies Asked);
  return {
    name,
    request,
    differs: (recorded: string) => asksElse(recorded, request()),
    inFlightMs: calls * client.longestCallMs + SETTLE_MS,
    repeatable: false,
  };
}

function named<T extends { readonly id?: string | undefined }>(kind: Kind, sent: T): Effect<T> {
  return { result: sent, ref: sent.id && refOf(kind, sent.id) };
}
