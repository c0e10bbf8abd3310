import { STRING } from "../core/kinds.ts";
import { readOptions, requireKind } from "../core/option-checks.ts";
import { readWhen, type When } from "../core/span.ts";
import { hasCode, ServiceBotError, tryRead } from "../errors.ts";
import type { AnyEvent, EventType, UnknownEvent } from "../events/types.ts";
import { Deliveries } from "./deliveries.ts";
import {
  DELIVER_OPTIONS,
  type DeliverOptions,
  type DeliveryAnswer,
  type TestEvent,
} from "./delivery.ts";
import { type EventFor, type Exchange, repliesTo } from "./exchange.ts";
import type { FailedRun, Failures, ObservableBot } from "./failures.ts";
import { IdleWait } from "./idle-wait.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { RefuseOptions } from "./refusals.ts";
import { ACT_OPTIONS, type ActOptions, DEFAULT_PERSON, PAYLOAD } from "./scene.ts";
import {
  type ScheduledTimer,
  STATE_OF,
  type StateOf,
  type StoredEffects,
  scheduledTimers,
} from "./stored.ts";
import type { RecordedCall, SentByBot, TestPlatform, UploadedByBot } from "./test-platform.ts";

/** The part of a `Bot` that {@link TestBot} calls. */
export interface BotUnderTest extends ObservableBot {
  /** Starts the bot without a port. */
  start(options: { readonly listen: false }): Promise<void>;
  /** Stops the bot. */
  stop(): Promise<void>;
  /** Responds to a webhook request. */
  handle(request: Request): Promise<Response>;
  /** Resolves when no event is running or ready to run. */
  idle(): Promise<void>;
  /** Stored states and timers. */
  readonly inbox: StoredEffects;
}

interface TestBotParts<B> {
  readonly bot: B;
  readonly clock: ManualClock;
  readonly platform: TestPlatform;
  readonly failures: Failures;
}

/**
 * A bot under test, without port, network, files or account. User actions such as `dm` and `mention` resolve once the
 * bot has handled the event. If a handler fails, they reject with its error, so that no failure goes unnoticed.
 * `deliver` never rejects with a handler's error.
 */
export class TestBot<B extends BotUnderTest = BotUnderTest> {
  /** The bot under test. */
  readonly bot: B;
  /** The bot's clock, which stands still until a test advances it. Retries wait for it. */
  readonly clock: ManualClock;
  readonly #platform: TestPlatform;
  readonly #failures: Failures;
  readonly #deliveries: Deliveries;
  #isClosed = false;

  constructor({ bot, clock, platform, failures }: TestBotParts<B>) {
    this.bot = bot;
    this.clock = clock;
    this.#platform = platform;
    this.#failures = failures;
    this.#deliveries = new Deliveries(bot, clock);
  }

  /** Messages, comments and posts that the bot wrote, in order. */
  get sent(): readonly SentByBot[] {
    return this.#platform.sent;
  }

  /** Images that the bot uploaded, in order. */
  get uploads(): readonly UploadedByBot[] {
    return this.#platform.uploads;
  }

  /** Requests that the bot sent to the platform, in order. */
  get calls(): readonly RecordedCall[] {
    return this.#platform.calls;
  }

  /** Failed runs of handlers, in order. */
  get failures(): readonly FailedRun[] {
    return this.#failures.all;
  }

  /**
   * Returns a stored state in its JSON form, or `undefined` if there is none.
   *
   *     assert.deepEqual(await bot.state({ from: "ada" }), { count: 1 });
   *
   * @param of user in a conversation, or a state key. Default: the conversation with `ada`
   * @throws {ServiceBotError} INVALID_OPTION if the user has sent no message
   */
  async state(of: StateOf = {}): Promise<unknown> {
    const { inbox } = this.bot;
    const key = typeof of === "string" ? of : await this.#deliveries.laneOf(readFrom(of));
    const stored = await inbox.state(key);
    return stored && JSON.parse(stored.value);
  }

  /** Lists the timers that handlers set with `ctx.later`, the earliest first. */
  async timers(): Promise<readonly ScheduledTimer[]> {
    return await scheduledTimers(this.bot.inbox, this.clock.now());
  }

  /** Makes the platform refuse later calls. See `TestPlatform.refuse`. */
  refuse(options: RefuseOptions): void {
    this.#platform.refuse(options);
  }

  /**
   * Sends the bot a direct message. All messages from a user are in the same conversation. A long text may be truncated
   * in the event, but not in the conversation.
   *
   *     const { replies } = await bot.dm("hi", { from: "ada" });
   *
   * @throws the handler's error, if it fails
   */
  dm(
    text: string,
    options: Pick<ActOptions, "from" | "images"> = {},
  ): Promise<Exchange<"dm.message">> {
    return this.#say("dm.message", text, options);
  }

  /**
   * Mentions the bot in a new post or, with `postId`, in a comment on that post. A text that does not mention the bot
   * gets the prefix `@bot`.
   *
   * @throws the handler's error, if it fails
   */
  mention(
    text: string,
    options: Pick<ActOptions, "from" | "postId" | "images"> = {},
  ): Promise<Exchange<"mention">> {
    return this.#say("mention", text, options);
  }

  /**
   * Comments on one of the bot's posts: `postId`, or the newest.
   *
   * @throws the handler's error, if it fails
   */
  comment(
    text: string,
    options: Pick<ActOptions, "from" | "postId" | "images"> = {},
  ): Promise<Exchange<"comment">> {
    return this.#say("comment", text, options);
  }

  /**
   * Replies to one of the bot's comments: `commentId`, or the newest.
   *
   * @throws the handler's error, if it fails
   */
  reply(
    text: string,
    options: Pick<ActOptions, "from" | "commentId" | "images"> = {},
  ): Promise<Exchange<"reply">> {
    return this.#say("reply", text, options);
  }

  /**
   * Quotes one of the bot's posts: `postId`, or the newest.
   *
   * @throws the handler's error, if it fails
   */
  quote(
    text: string,
    options: Pick<ActOptions, "from" | "postId" | "images"> = {},
  ): Promise<Exchange<"quote">> {
    return this.#say("quote", text, options);
  }

  /**
   * Likes one of the bot's posts or comments: `postId` or `commentId`. Default: the newest post.
   *
   * @throws the handler's error, if it fails
   */
  like(options: Pick<ActOptions, "from" | "postId" | "commentId"> = {}): Promise<Exchange<"like">> {
    return this.#act("like", options);
  }

  /**
   * Reposts one of the bot's posts: `postId`, or the newest.
   *
   * @throws the handler's error, if it fails
   */
  repost(options: Pick<ActOptions, "from" | "postId"> = {}): Promise<Exchange<"repost">> {
    return this.#act("repost", options);
  }

  /**
   * Follows the bot.
   *
   * @throws the handler's error, if it fails
   */
  follow(options: Pick<ActOptions, "from"> = {}): Promise<Exchange<"follow">> {
    return this.#act("follow", options);
  }

  /**
   * Delivers an event of any type, including custom types.
   *
   *     await bot.event("poll.closed", { pollId: "7", votes: 12 });
   *
   * @throws the handler's error, if it fails
   */
  async event<T extends string>(type: T, payload: TestEvent<T>["payload"]): Promise<Exchange<T>> {
    this.#requireOpen();
    requireKind("type", type, STRING);
    requireKind("payload", payload, PAYLOAD);
    const event = this.#deliveries.complete<T>({ type, payload });
    this.#happen(event);
    return await this.#exchange<T>([event], event as EventFor<T>);
  }

  /**
   * Delivers signed events to the webhook, as the platform would. Resolves once the bot has responded and handled the
   * events. Does not wait for retries.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  async deliver<T extends string>(
    events: TestEvent<T> | readonly TestEvent<T>[],
    options: DeliverOptions = {},
  ): Promise<DeliveryAnswer> {
    this.#requireOpen();
    const delivery = readOptions(options, DELIVER_OPTIONS);
    const isList = tryRead(() => Array.isArray(events)) === true;
    const given = isList ? (events as readonly TestEvent<T>[]) : [events as TestEvent<T>];
    const list = given.map((event) => this.#deliveries.complete(event));
    for (const event of list) this.#happen(event);
    return await this.#deliveries.send(list, delivery);
  }

  /**
   * Advances the clock. Retries run when they are due, and the bot handles all due events before the clock moves on.
   *
   *     await bot.advance("24h");
   *
   * @param by milliseconds, a span such as `10m`, `1h30m` or `2d`, or the time at which the clock stops. At most 365
   * days
   * @throws the handler's error, if an event fails and is not handled by the end
   */
  async advance(by: When): Promise<void> {
    this.#requireOpen();
    const ms = readWhen(by, this.clock.now(), "by");
    const idle = new IdleWait(() => this.bot.idle());
    await this.#failures.during(() => this.clock.advance(ms, () => idle.wait()));
  }

  /** Stops the bot and its platform. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failures.end();
    await this.bot.stop();
    await this.#platform.close();
  }

  /** Adds an event to the platform's log, unless a test forges one that no platform sends. */
  #happen(event: UnknownEvent): void {
    try {
      this.#platform.happen(event);
    } catch (error) {
      if (!hasCode(error, "INVALID_OPTION")) throw error;
    }
  }

  async #say<T extends EventType>(
    type: T,
    text: string,
    options: ActOptions,
  ): Promise<Exchange<T>> {
    requireKind("text", text, STRING);
    return await this.#act(type, options, text);
  }

  async #act<T extends EventType>(
    type: T,
    options: ActOptions,
    text?: string,
  ): Promise<Exchange<T>> {
    this.#requireOpen();
    const act = readOptions(options, ACT_OPTIONS);
    const typed = text === undefined ? { ...act, type } : { ...act, type, text };
    const events = this.#platform.act(typed, () => this.#deliveries.nextId());
    // The platform creates an event of the action's type, or refuses the action.
    const event = events.find((one) => one.type === type);
    return await this.#exchange<T>(events, event as EventFor<T>);
  }

  async #exchange<T extends string>(
    events: readonly AnyEvent[],
    event: EventFor<T>,
  ): Promise<Exchange<T>> {
    const before = this.sent.length;
    await this.#failures.during(() => this.#deliveries.handle(events));
    return { event, replies: repliesTo(event, this.sent.slice(before)) };
  }

  #requireOpen(): void {
    if (!this.#isClosed) return;
    throw new ServiceBotError("NOT_STARTED", "The bot under test is closed. Start a new one.");
  }
}

function readFrom(of: Exclude<StateOf, string>): string {
  const { from = DEFAULT_PERSON } = readOptions(of, STATE_OF, "of.");
  return from;
}
