import { LIMIT, readOutgoing } from "../client/arguments.ts";
import type { Client } from "../client/client.ts";
import { type ReadPage, readPages } from "../client/listing.ts";
import { checkId } from "../client/request.ts";
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
import { BOOLEAN, FUNCTION, KEY, type Kind } from "../core/kinds.ts";
import type { Logger } from "../core/logger.ts";
import { authorCode } from "../core/loop-watch.ts";
import {
  inspectOptions,
  type OptionTable,
  readOptions,
  refuseProblems,
  requireKind,
} from "../core/option-checks.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import { traceIdOf } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import { conversationOf } from "../events/lane.ts";
import { noteTexts } from "../events/parse.ts";
import type {
  AnyEvent,
  CronEvent,
  EventFor,
  KnownEvent,
  TimerEvent,
  UnknownEventType,
} from "../events/types.ts";
import type { Job, Step } from "../steps/step.ts";
import { commentStep, postStep, replyStep, uploadStep, type WriteScope } from "../steps/writes.ts";
import { createEffects, type EffectsContext, type EffectsContextOptions } from "./effects.ts";
import { createTypeGuard } from "./event-types.ts";
import { type ReceivedMessage, readMessage } from "./message.ts";
import { contextCall, PendingTasks } from "./pending-tasks.ts";

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

/** A message, comment or post made by this run, or made by an earlier run and found by this run. */
export interface WriteEnd {
  readonly kind: WriteKind;
  readonly result: unknown;
}

export interface ContextOptions {
  readonly onWrite?: (write: WriteEnd) => void;
  readonly prefix?: string;
  readonly effects?: EffectsContextOptions;
}

const NO_EFFECTS: EffectsContextOptions = { stateSchema: undefined, handledTypes: [] };

/** Creates the context for one run. Adds the handlers' writes and steps to `tasks`. */
export function createContext(
  job: Job,
  client: Client,
  tasks: PendingTasks = new PendingTasks(),
  options: ContextOptions = {},
): Context {
  return new RunContext(job, client, tasks, options);
}

/**
 * A context that creates its methods on first use, because a handler needs only a few of them. The methods also work
 * when detached.
 */
class RunContext implements Omit<Context, "is"> {
  readonly event: AnyEvent;
  readonly payload: AnyEvent["payload"];
  readonly attempt: number;
  readonly source: Context["source"];
  readonly late: boolean;
  readonly trace: string | undefined;
  readonly client: Client;
  readonly #job: Job;
  readonly #tasks: PendingTasks;
  readonly #options: ContextOptions;
  #madeWrites: Writes | undefined;
  #madeEffects: EffectsContext | undefined;
  #madeReads: Reads | undefined;

  constructor(job: Job, client: Client, tasks: PendingTasks, options: ContextOptions) {
    const { event, claim } = job;
    this.event = event;
    this.payload = event.payload;
    this.attempt = claim.attempt;
    this.source = claim.source;
    this.late = claim.late;
    this.trace = traceIdOf(claim.trace);
    this.client = client;
    this.#job = job;
    this.#tasks = tasks;
    this.#options = options;
  }

  get log(): Logger {
    return this.#job.log;
  }

  get signal(): AbortSignal {
    return this.#job.signal;
  }

  get is(): Context["is"] {
    const guard = createTypeGuard({
      event: this.event,
      handledTypes: () => (this.#options.effects ?? NO_EFFECTS).handledTypes,
      setPayload: (payload) => void Object.assign(this, { payload }),
    });
    return guard as Context["is"];
  }

  get reply(): Context["reply"] {
    return this.#writes.reply;
  }

  get comment(): Context["comment"] {
    return this.#writes.comment;
  }

  get post(): Context["post"] {
    return this.#writes.post;
  }

  get upload(): Context["upload"] {
    return this.#writes.upload;
  }

  get step(): Context["step"] {
    return this.#writes.step;
  }

  get state(): Context["state"] {
    return this.#effects.state;
  }

  get clearState(): Context["clearState"] {
    return this.#effects.clearState;
  }

  get later(): Context["later"] {
    return this.#effects.later;
  }

  get cancel(): Context["cancel"] {
    return this.#effects.cancel;
  }

  get messages(): Context["messages"] {
    return this.#reads.messages;
  }

  get text(): Context["text"] {
    return this.#reads.text;
  }

  get message(): Context["message"] {
    return this.#reads.message;
  }

  get peer(): Context["peer"] {
    return this.#reads.peer;
  }

  get #writes(): Writes {
    this.#madeWrites ??= new Writes(this.#job, this.client, this.#tasks, this.#options);
    return this.#madeWrites;
  }

  get #effects(): EffectsContext {
    this.#madeEffects ??= createEffects(
      this.#job,
      this.#tasks,
      this.#options.effects ?? NO_EFFECTS,
    );
    return this.#madeEffects;
  }

  get #reads(): Reads {
    this.#madeReads ??= new Reads(this.#job, this.client);
    return this.#madeReads;
  }
}

class Reads {
  readonly #job: Job;
  readonly #client: Client;
  #peer: ReturnType<Context["peer"]> | undefined;
  #message: ReturnType<Context["message"]> | undefined;

  constructor(job: Job, client: Client) {
    this.#job = job;
    this.#client = client;
  }

  readonly messages: Context["messages"] = (options = {}) =>
    contextCall(async () => {
      const { limit = 50 } = readOptions(options, MESSAGES_OPTIONS);
      const { event, signal } = this.#job;
      const conversationId = conversationOf(event) ?? refuseMessages(event);
      return (await this.#client.dms.messages(conversationId, { limit, signal })).items;
    });

  readonly text: Context["text"] = () =>
    contextCall(async () => (await this.message())?.text ?? "");

  readonly message: Context["message"] = () => {
    const { event, signal } = this.#job;
    this.#message ??= contextCall(async () => {
      const message = await readMessage(this.#client, event, signal);
      if (message !== undefined) noteTexts(event, [message.text]);
      return message;
    });
    return this.#message;
  };

  readonly peer: Context["peer"] = () => {
    const { event, signal } = this.#job;
    this.#peer ??= contextCall(() => findPeer(this.#client, event, signal));
    return this.#peer;
  };
}

function refuseMessages({ type }: AnyEvent): never {
  throw new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `A ${type} event does not belong to a conversation.`,
  );
}

/** Pages of 50 conversations, newest first. The conversation of a new message is on the first page. */
const MAX_PEER_PAGES = 5;

async function findPeer(
  client: Client,
  event: AnyEvent,
  signal: AbortSignal,
): Promise<Conversation["peer"] | undefined> {
  const conversationId = conversationOf(event);
  if (conversationId === undefined) return undefined;
  const read: ReadPage<Conversation> = (cursor) =>
    client.dms.conversations({ limit: 50, cursor, signal });
  for await (const { items } of readPages(read, MAX_PEER_PAGES)) {
    const found = items.find(({ id }) => id === conversationId);
    if (found !== undefined) return found.peer;
  }
  return undefined;
}

type WriteKind = "reply" | "comment" | "post" | "upload";

/** Writes and steps of one run. The run waits for all of them. Invalid options cause a rejection. */
class Writes {
  readonly #job: Job;
  readonly #client: Client;
  readonly #tasks: PendingTasks;
  readonly #options: ContextOptions;
  readonly #counts = { reply: 0, comment: 0, post: 0, upload: 0 };

  constructor(job: Job, client: Client, tasks: PendingTasks, options: ContextOptions) {
    this.#job = job;
    this.#client = client;
    this.#tasks = tasks;
    this.#options = options;
  }

  readonly reply: Context["reply"] = (message, options) =>
    this.#write("reply", options, (name) => {
      return replyStep(name, this.#job.event, outgoingOf(message), this.#scope);
    });

  readonly comment: Context["comment"] = (postId, message, options) =>
    this.#write("comment", options, (name) => {
      checkId("postId", postId);
      return commentStep(name, postId, outgoingOf(message), this.#scope);
    });

  readonly post: Context["post"] = (message, options) =>
    this.#write("post", options, (name) => postStep(name, outgoingOf(message), this.#scope));

  readonly upload: Context["upload"] = (image, options) =>
    this.#write("upload", options, (name) => uploadStep(name, image, this.#scope));

  readonly step: Context["step"] = <R>(
    name: string,
    fn: () => Promise<R> | R,
    options: StepOptions = {},
  ) =>
    this.#tasks.start(async () => {
      requireKind("name", name, STEP_NAME);
      requireKind("fn", fn, FUNCTION);
      const { repeatable = false } = readOptions(options, STEP_OPTIONS);
      const { result } = await this.#job.steps.run({
        name: `${this.#prefix}step/${name}`,
        run: async () => ({ result: (await authorCode(undefined, fn)) as Jsonify<R> }),
        repeatable,
      });
      return result;
    });

  get #prefix(): string {
    return this.#options.prefix ?? "";
  }

  get #scope(): WriteScope {
    return { client: this.#client, signal: this.#job.signal };
  }

  #write<R>(
    kind: WriteKind,
    options: WriteOptions = {},
    describe: (name: string) => Step<R>,
  ): Promise<WriteResult<R>> {
    const { values, problems } = inspectOptions(options, WRITE_OPTIONS);
    // Number the write at once, in the order of the calls.
    const name = this.#nextName(kind, values);
    return this.#tasks.start(async () => {
      refuseProblems(problems);
      const step = describe(name);
      // Date the intent by the platform's clock. With the bot's clock, a search after a crash would have to cover extra
      // minutes.
      const isShown = step.search !== undefined;
      if (isShown) await this.#client.syncClock();
      const { result, outcome } = await this.#job.steps.run(step);
      if (isShown && (outcome === "made" || outcome === "found"))
        this.#options.onWrite?.({ kind, result });
      return { ...result, repeated: outcome !== "made" };
    });
  }

  /**
   * Returns a name such as `reply/1`, or `reply/key:sorry` for the key `sorry`. Numbers distinguish replies with the
   * same text.
   */
  #nextName(kind: WriteKind, { key }: WriteOptions): string {
    const name = `${this.#prefix}${kind}`;
    if (key !== undefined) return `${name}/key:${key}`;
    this.#counts[kind] += 1;
    return `${name}/${this.#counts[kind]}`;
  }
}

function outgoingOf(message: string | OutgoingMessage): OutgoingMessage {
  return readOutgoing(typeof message === "string" ? { text: message } : message);
}

const WRITE_OPTIONS: OptionTable<WriteOptions> = { key: KEY };
const STEP_OPTIONS: OptionTable<StepOptions> = { repeatable: BOOLEAN };
const MESSAGES_OPTIONS: OptionTable<{ readonly limit?: number }> = { limit: LIMIT };

/** Maximum length of a step's name, in characters. PostgreSQL limits the size of an index entry. */
const MAX_STEP_NAME = 500;

const STEP_NAME: Kind = {
  expected: `a string of 1 to ${MAX_STEP_NAME} characters`,
  fits: (value) => typeof value === "string" && value !== "" && value.length <= MAX_STEP_NAME,
};
