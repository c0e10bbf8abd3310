import type { Client } from "../client/client.ts";
import type {
  Conversation,
  ImageInput,
  Message,
  OutgoingMessage,
  Sent,
  SentComment,
  SentPost,
  Upload,
} from "../client/resources.ts";
import type { Jsonify } from "../core/jsonify.ts";
import type { Logger } from "../core/logger.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent, EventOf, EventType } from "../events/types.ts";
import { findPeer } from "../steps/find.ts";
import type { Job } from "../steps/job.ts";
import { PendingTasks } from "../steps/pending-tasks.ts";
import { type StepOptions, type WriteOptions, type WriteResult, Writes } from "../steps/writes.ts";

/** The event that a handler of type `T` gets; any event where the type is not known beforehand. */
export type EventFor<T extends string> = T extends EventType ? EventOf<T> : AnyEvent;

/** Input of a handler. `Context<"dm.message">` has the payload of that type. */
export interface Context<T extends string = string> {
  /** The event. Fields that the platform adds are kept. */
  readonly event: EventFor<T>;
  /** `event.payload`: narrowed by the type. */
  readonly payload: EventFor<T>["payload"];
  /** The number of this run of the handler for this event, from 1 up. */
  readonly attempt: number;
  /** The source that had the event first. */
  readonly source: "webhook" | "poll";
  /** True when a later event of the same conversation or post was handled before this one arrived. */
  readonly late: boolean;
  /**
   * The id that joins it to the delivery that brought it, and to all that came of it: the log has it in the field
   * `trace`. 32 hexadecimal digits; undefined for an event that a version before this one has stored.
   */
  readonly trace: string | undefined;
  /** A logger that adds the event's id, type, attempt and trace to each line. */
  readonly log: Logger;
  /** Aborts when the handler has run too long, its lease is lost, or the bot is stopping. */
  readonly signal: AbortSignal;
  /** The platform's API. Writes through it are not steps: a retried handler repeats them. */
  readonly client: Client;
  /**
   * Answers: with a direct message to a `dm.message`, with a comment on the post to activity on a
   * post. A step: when the handler is retried, what was said is not said again. The replies of a run are
   * numbered in the order of the calls; `key` names one that is meant to differ from run to run.
   *
   * @throws {ServiceBotError} REPLY_IMPOSSIBLE when the event names neither a conversation nor a post; INVALID_OPTION,
   *   STEP_DUPLICATE when a key is used twice, STEP_UNCERTAIN, LEASE_LOST
   */
  reply(message: string | OutgoingMessage, options?: WriteOptions): Promise<WriteResult<Sent>>;
  /**
   * Comments on a post. A step, as `reply` is. Scope: `comments:write`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, STEP_UNCERTAIN, LEASE_LOST
   */
  comment(
    postId: string,
    message: string | OutgoingMessage,
    options?: WriteOptions,
  ): Promise<WriteResult<SentComment>>;
  /**
   * Makes a post. A step; where a crash leaves open whether it was made and the feed does not show it,
   * the event is parked for a person. Scope: `posts:write`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, STEP_UNCERTAIN, LEASE_LOST
   */
  post(message: string | OutgoingMessage, options?: WriteOptions): Promise<WriteResult<SentPost>>;
  /**
   * Uploads an image, whose key goes into `imageKeys`. A step: a later run gets the same key, or a new
   * one when that is too old to be used. Scope: any but `read`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, LEASE_LOST
   */
  upload(image: ImageInput, options?: WriteOptions): Promise<WriteResult<Upload>>;
  /**
   * The newest messages of the conversation, newest first (1 to 50, default 50). For `dm.message`.
   *
   * @throws {ServiceBotError} REPLY_IMPOSSIBLE when the event belongs to no conversation
   */
  messages(options?: { readonly limit?: number }): Promise<readonly Message[]>;
  /**
   * Looks up the other side of the conversation, with `isBot`: one request to `GET /dm/conversations` (section 2) per run,
   * up to five where the conversation is old. `undefined` for an event without a conversation, and for a conversation
   * that is not among the 250 newest. Scope: `dm`.
   */
  peer(): Promise<Conversation["peer"] | undefined>;
  /**
   * Runs `fn` once per event, even when the handler is retried. Every run gets the result as JSON keeps it, the first
   * one included: a `Date` is a string. When `fn` returns what JSON cannot keep, such as a `Map`, the event is parked, and
   * `fn` is not run again. When the process dies inside `fn`, or `fn` fails in a way that leaves open whether
   * it took effect (no answer, a server error, an abort), the event is parked for a person, unless the step
   * is `repeatable`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, STEP_UNCERTAIN, STEP_RESULT_INVALID, LEASE_LOST
   */
  step<R>(name: string, fn: () => Promise<R> | R, options?: StepOptions): Promise<Jsonify<R>>;
}

/** Makes the context of one run of the handlers. What they begin through it is added to `tasks`. */
export function createContext(
  job: Job<AnyEvent>,
  client: Client,
  tasks: PendingTasks = new PendingTasks(),
): Context {
  // Its log, its signal and its steps are asked for when they are needed: most runs need none, and they are dear.
  const { event, attempt, source, late, trace } = job;
  const messages = async ({ limit = 50 }: { readonly limit?: number } = {}) => {
    const page = await client.dms.messages(conversationOf(event), { limit, signal: job.signal });
    return page.items;
  };
  const writes = new Writes(job, client, tasks);
  let log: Logger | undefined;
  let peer: ReturnType<Context["peer"]> | undefined;
  return {
    event,
    payload: event.payload,
    attempt,
    source,
    late,
    trace,
    get log() {
      log ??= job.log;
      return log;
    },
    get signal() {
      return job.signal;
    },
    client,
    reply: (message, options) => writes.reply(message, options),
    comment: (postId, message, options) => writes.comment(postId, message, options),
    post: (message, options) => writes.post(message, options),
    upload: (image, options) => writes.upload(image, options),
    messages,
    peer: () => {
      peer ??= findPeer(client, event, job.signal);
      return peer;
    },
    step: (name, fn, options) => writes.step(name, fn, options),
  };
}

function conversationOf(event: AnyEvent): string {
  const { conversationId }: Readonly<Record<string, unknown>> = { ...event.payload };
  const id = idText(conversationId);
  if (id !== undefined) return id;
  throw new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `A ${event.type} event belongs to no conversation.`,
  );
}
