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
import type { Jsonify } from "../core/json.ts";
import type { Logger } from "../core/logger.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import type {
  CronEvent,
  EventFor,
  KnownEvent,
  TimerEvent,
  UnknownEventType,
} from "../events/types.ts";
import type { EffectsContext } from "./effects.ts";
import type { ReceivedMessage } from "./message.ts";

/** Options for `ctx.reply`, `ctx.comment`, `ctx.post` and `ctx.upload`. */
export interface WriteOptions {
  /**
   * Names the write. Without a key, writes are numbered. A write with a new key is sent even if an earlier run made
   * other writes. The key appears in the log and in `service-bot inbox show`. 1 to 100 characters, without control
   * characters.
   */
  readonly key?: string | undefined;
}

/** Options for `ctx.step`. */
export interface StepOptions {
  /**
   * True if repeating the step is harmless. If the step's effect is unknown, the bot then repeats the step instead of
   * making the event a dead letter. Default `false`.
   */
  readonly repeatable?: boolean;
}

/** Result of a write that is not repeated when the handler is retried. */
export type WriteResult<T> = T & {
  /** True if an earlier run made the write, so this run sent nothing. */
  readonly repeated: boolean;
};

/** An event type that has a payload type: a type that this version supports, a timer or a cron job. */
type NamedType = (KnownEvent | TimerEvent | CronEvent)["type"];

/**
 * Members of the context of every type. An interface and not an `Omit`, because an editor shows no docstrings of mapped
 * members.
 */
interface CommonContext extends EffectsContext {
  /** Number of the current run for this event, starting at 1. */
  readonly attempt: number;
  /** Source that delivered the event first. */
  readonly source: "webhook" | "poll";
  /**
   * True if a later event of the platform in the same conversation or on the same post was handled before this event,
   * at most a day before it arrived. False for types that this version does not know, timers and cron ticks.
   */
  readonly late: boolean;
  /**
   * The event's trace id (32 hexadecimal digits), shared by its delivery and its requests, and logged in the `trace`
   * field. `undefined` for an event that an earlier version stored.
   */
  readonly trace: string | undefined;
  /** Logger that adds the event's id, type, attempt and trace to each line. */
  readonly log: Logger;
  /** Aborts on the handler timeout, when the lease is lost, and when the bot stops. */
  readonly signal: AbortSignal;
  /** Client for the platform's API. Its writes are not steps, so a retried handler repeats them. */
  readonly client: Client;
  /**
   * Replies to a `dm.message` with a direct message, and to activity on a post with a comment on that post. A reply is
   * a step, so a retried handler does not send it again. Replies are numbered in call order within a run. Use `key` to
   * name a reply whose number may change between runs.
   *
   * @throws {ServiceBotError} REPLY_IMPOSSIBLE if the event names neither a conversation nor a post; STEP_DUPLICATE if
   *   a key is used twice; INVALID_OPTION, STEP_UNCERTAIN, RUN_TOO_LARGE, LEASE_LOST
   */
  reply(message: string | OutgoingMessage, options?: WriteOptions): Promise<WriteResult<Sent>>;
  /**
   * Adds a comment to a post. A step, like `reply`. Scope: `comments:write`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, STEP_UNCERTAIN, RUN_TOO_LARGE, LEASE_LOST
   */
  comment(
    postId: string,
    message: string | OutgoingMessage,
    options?: WriteOptions,
  ): Promise<WriteResult<SentComment>>;
  /**
   * Creates a post. A step, like `reply`. After a crash the bot may not know whether the post exists. If the feed does
   * not show the post either, the event becomes a dead letter (STEP_UNCERTAIN). Scope: `posts:write`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, STEP_UNCERTAIN, RUN_TOO_LARGE, LEASE_LOST
   */
  post(message: string | OutgoingMessage, options?: WriteOptions): Promise<WriteResult<SentPost>>;
  /**
   * Uploads an image and returns its key for `imageKeys`. A step, so later runs get the same key as long as it is
   * valid. Scope: any except `read`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, RUN_TOO_LARGE, LEASE_LOST
   */
  upload(image: ImageInput, options?: WriteOptions): Promise<WriteResult<Upload>>;
  /**
   * Returns the conversation's latest messages, newest first (1 to 50, default 50). For `dm.message`.
   *
   * @throws {ServiceBotError} REPLY_IMPOSSIBLE if the event does not belong to a conversation
   */
  messages(options?: { readonly limit?: number }): Promise<readonly Message[]>;
  /**
   * Returns the full text of the message, post or comment, or "" if it was deleted. The first call in a run requests
   * the text, because an event's excerpt may be truncated (section 6 of the platform document). Scope: `dm` for
   * messages, `read` for posts.
   *
   * @throws {ServiceBotError} REPLY_IMPOSSIBLE if the event names neither a conversation nor a post
   */
  text(): Promise<string>;
  /**
   * Returns the message, post or comment with its images and author, or `undefined` if it was deleted. Shares its
   * request with `text()`.
   *
   * @throws {ServiceBotError} REPLY_IMPOSSIBLE if the event names neither a conversation nor a post
   */
  message(): Promise<ReceivedMessage | undefined>;
  /**
   * Returns the conversation's peer, including `isBot`. Sends one `GET /dm/conversations` request per run (section 2 of
   * the platform document), or up to five if the conversation is old. Returns `undefined` if the event has no
   * conversation, or if the conversation is not among the 250 newest. Scope: `dm`.
   */
  peer(): Promise<Conversation["peer"] | undefined>;
  /**
   * Runs `fn` once per event, even if the handler is retried. Every run, including the first, gets the result after a
   * JSON round trip, so a `Date` becomes a string. If JSON cannot represent the result, as for a `Map`, the event
   * becomes a dead letter.
   *
   * The effect of a step is unknown if the process dies inside `fn`, or if `fn` fails without a response, with a server
   * error or with an abort. The event then becomes a dead letter (STEP_UNCERTAIN), unless the step is `repeatable`.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STEP_DUPLICATE, STEP_UNCERTAIN, STEP_RESULT_INVALID, RUN_TOO_LARGE,
   *   LEASE_LOST
   */
  step<R>(name: string, fn: () => Promise<R> | R, options?: StepOptions): Promise<Jsonify<R>>;
}

/** A handler's context. `Context<"dm.message">` has the payload of that type. */
// With `out`, the compiler compares the types of two contexts instead of all their members.
export interface Context<out T extends string = string> extends CommonContext {
  /** The event, including fields that the platform adds later. Comparing its `type` narrows its payload. */
  readonly event: EventFor<T>;
  /** The event's payload, narrowed by its type. */
  readonly payload: EventFor<T>["payload"];
  /**
   * Returns whether the event has this type, or one of several types, and narrows `event` and `payload`. Types are the
   * platform's, `timer:NAME` and `cron:NAME`.
   *
   * A custom type needs its schema, as in `ctx.is("poll.closed", schema)`. `ctx.payload` is then the schema's output.
   * The schema must be synchronous.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION; PAYLOAD_INVALID if the
   *   event has the custom type but does not match the schema
   */
  is<K extends NamedType, P = never>(
    type: K | readonly K[] | TypeWithSchema<P>,
    ...more: readonly (K | StandardSchemaV1<unknown, P>)[]
  ): this is Narrowed<this, K, P>;
}

/**
 * Context for a timer, a cron job, or an event type that this version does not know. The schema, if any, determines the
 * payload.
 */
export interface CustomContext<T extends string, P> extends CommonContext {
  /** The event as received, without the schema's changes. */
  readonly event: EventFor<T extends NamedType ? T : UnknownEventType>;
  /** The schema's output. `event.payload` is the payload as received. */
  readonly payload: P;
  /** Returns whether the event has the handler's own type. In `onUnknown`, any type. */
  is(type: T): boolean;
  /** Like `Context.is`. */
  is<K extends NamedType, Q = never>(
    type: K | readonly K[] | TypeWithSchema<Q>,
    ...more: readonly (K | StandardSchemaV1<unknown, Q>)[]
  ): this is Narrowed<this, K, Q>;
}

/** Any string if a schema is given, so that a custom type needs one. */
type TypeWithSchema<P> = [P] extends [never] ? never : string;

/** Context `C`, narrowed to events of type `T` or, if `P` is not `never`, to a custom type with this payload. */
type Narrowed<C, T extends NamedType, P> = Omit<C, "event" | "payload" | "is"> &
  ([P] extends [never] ? Context<T> : CustomContext<UnknownEventType, P>);
