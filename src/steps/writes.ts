import type { Client } from "../client/client.ts";
import type { ImageInput } from "../client/images/source.ts";
import type {
  OutgoingMessage,
  Sent,
  SentComment,
  SentMessage,
  SentPost,
  Upload,
} from "../client/types.ts";
import { type OptionNames, refuseProblems, unknownOptions } from "../core/ranges.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent } from "../events/types.ts";
import { findComment, findMessage, findPost } from "./find.ts";
import { type Asked, asksElse, type Kind, refOf } from "./reconcile.ts";
import type { Effect, Step } from "./step.ts";
import { subjectOf } from "./subject.ts";

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

/** Where a reply goes. */
type Target =
  | { readonly kind: "dm"; readonly conversationId: string }
  | { readonly kind: "comment"; readonly postId: string };

/** A reply to an event as a step: a message to a message, a comment to activity on a post. */
export function replyStep(
  name: string,
  event: AnyEvent,
  message: OutgoingMessage,
  scope: WriteScope,
): Step<Sent> {
  const target = targetOf(event);
  if (target.kind === "dm") return messageStep(name, target.conversationId, message, scope);
  return {
    ...commentStep(name, target.postId, message, scope),
    subject: subjectOf(event),
  };
}

/** The conversation of a message; the post of anything that happened on a post. */
function targetOf(event: AnyEvent): Target {
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const conversationId = idText(payload["conversationId"]);
  if (conversationId !== undefined) return { kind: "dm", conversationId };
  // The values of entityType are not documented; "post" is the type that posts carry (section 2).
  const ofPost = payload["entityType"] === "post" ? payload["entityId"] : undefined;
  const postId = idText(payload["postId"]) ?? idText(ofPost);
  if (postId !== undefined) return { kind: "comment", postId };
  throw new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `A ${event.type} event that names neither a conversation nor a post cannot be replied to. ` +
      "Use ctx.comment() or ctx.client with the address you want to answer at.",
  );
}

/** Options of `ctx.reply`, `ctx.comment`, `ctx.post` and `ctx.upload`. */
export interface WriteOptions {
  /**
   * Names the write, in the place of its number. A write with another key than in an earlier run is made in any case.
   * 1 to 100 characters, without control characters. It appears in the log and in `service-bot inbox show`.
   */
  readonly key?: string | undefined;
}

export type WriteKind = "reply" | "comment" | "post" | "upload";

/** No control or invisible character, and no half of one. */
const KEY = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u;

/** Names the writes of one run. Two replies with one text are two replies, because calls are numbered. */
export class WriteNames {
  readonly #counts = { reply: 0, comment: 0, post: 0, upload: 0 };

  /** The name of the next write: `reply/1`, or `reply/key:sorry` with the key `sorry`. Keys leave the numbers alone. */
  next(kind: WriteKind, { key }: WriteOptions): string {
    if (key !== undefined) return `${kind}/key:${key}`;
    this.#counts[kind] += 1;
    return `${kind}/${this.#counts[kind]}`;
  }
}

const WRITE_OPTIONS: OptionNames<WriteOptions> = { key: true };

/** @throws {ServiceBotError} INVALID_OPTION */
export function checkWriteOptions(options: WriteOptions): void {
  refuseProblems([...unknownOptions(options, WRITE_OPTIONS), keyProblem(options)]);
}

function keyProblem({ key }: WriteOptions): string | undefined {
  if (key === undefined || (typeof key === "string" && KEY.test(key))) return undefined;
  return "key must be a text of 1 to 100 characters without control characters";
}
