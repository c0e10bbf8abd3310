import type { Fetch } from "../client/http.ts";
import { checkOptions, type OptionTable } from "../core/option-checks.ts";
import type { EventType, PayloadByType } from "../events/types.ts";
import { SIGNATURE_HEADER, sign } from "../signature/signature.ts";
import { ManualClock } from "./manual-clock.ts";
import type { RefuseOptions } from "./refusals.ts";
import {
  ORIGIN,
  type RecordedCall,
  type SentByBot,
  TestPlatform,
  type UploadedByBot,
} from "./test-platform.ts";

/** The options that a bot under test is created with. */
export interface TestBotOptions {
  readonly env: Readonly<Record<string, never>>;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly databaseUrl: string;
  readonly delivery: "webhook";
  readonly logLevel: "silent";
  readonly requestRetries: 0;
  readonly fetch: Fetch;
  readonly clock: ManualClock;
}

/** The methods of a `Bot` that a test bot calls. */
export interface BotUnderTest {
  /** Starts the bot without a port. */
  start(options: { readonly listen: false }): Promise<void>;
  /** Stops the bot. */
  stop(): Promise<void>;
  /** Answers a request to the webhook. */
  handle(request: Request): Promise<Response>;
  /** Resolves once no event is due or under way. */
  idle(): Promise<void>;
}

/** An event to deliver. Defaults: a new id, the present. */
export interface TestEvent<T extends string = string> {
  readonly id?: string;
  readonly type: T;
  readonly payload: T extends EventType ? PayloadByType[T] : object;
  readonly createdAt?: string;
}

/** Ways to forge a delivery. */
export interface DeliverOptions {
  /** Sign with this secret instead of the bot's own. */
  readonly secret?: string;
  /** Sign with this time instead of the present, in seconds since 1970. */
  readonly timestamp?: number;
}

const DELIVER_OPTIONS: OptionTable<DeliverOptions> = { secret: true, timestamp: true };

/** The bot's answer to a delivery. */
export interface DeliveryAnswer {
  /** The HTTP status. */
  readonly status: number;
  readonly body: unknown;
}

const SECRET = "whsec_for_tests_only";

/** A bot under test: no port, no network, no file, no account. */
export class TestBot<B extends BotUnderTest = BotUnderTest> {
  readonly bot: B;
  /** Stands still until it is advanced. Retries wait for it. */
  readonly clock: ManualClock;
  readonly #platform: TestPlatform;
  #events = 0;

  constructor(bot: B, clock: ManualClock, platform: TestPlatform) {
    this.bot = bot;
    this.clock = clock;
    this.#platform = platform;
  }

  /** Messages, comments and posts of the bot, in order. */
  get sent(): readonly SentByBot[] {
    return this.#platform.sent;
  }

  /** Every image that the bot has uploaded, in order. */
  get uploads(): readonly UploadedByBot[] {
    return this.#platform.uploads;
  }

  /** Every request that the bot has made to the platform, in order. */
  get calls(): readonly RecordedCall[] {
    return this.#platform.calls;
  }

  /** Makes the platform refuse the next calls: see `TestPlatform.refuse`. */
  refuse(options: RefuseOptions): void {
    this.#platform.refuse(options);
  }

  /**
   * Delivers events to the webhook as the platform would, signed. Resolves once the bot has answered and handled them.
   * Retries are not waited for.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  async deliver(
    events: TestEvent | readonly TestEvent[],
    options: DeliverOptions = {},
  ): Promise<DeliveryAnswer> {
    checkOptions(options, DELIVER_OPTIONS);
    const given: readonly TestEvent[] = Array.isArray(events) ? events : [events];
    const list = given.map((event) => this.#complete(event));
    for (const event of list) this.#platform.happen(event);
    const body = JSON.stringify({ events: list });
    const timestamp = options.timestamp ?? this.clock.now() / 1000;
    const response = await this.bot.handle(
      new Request("http://bot.test/webhook", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          [SIGNATURE_HEADER]: sign(body, options.secret ?? SECRET, timestamp),
        },
        body,
      }),
    );
    await this.bot.idle();
    return { status: response.status, body: await response.json() };
  }

  /** Stops the bot, and the platform with it. */
  async close(): Promise<void> {
    await this.bot.stop();
    await this.#platform.close();
  }

  #complete(event: TestEvent): TestEvent {
    this.#events += 1;
    const id = `evt_test_${String(this.#events).padStart(6, "0")}`;
    return { id, createdAt: new Date(this.clock.now()).toISOString(), ...event };
  }
}

/** Starts a bot for a test. `createBot` creates it with the options that it is given. */
export async function testBot<B extends BotUnderTest>(
  createBot: (options: TestBotOptions) => B,
): Promise<TestBot<B>> {
  const clock = new ManualClock();
  const platform = new TestPlatform({ clock });
  const bot = createBot({
    ...{ env: {}, clock, fetch: platform.fetch },
    baseUrl: ORIGIN,
    apiKey: "for-tests-only",
    webhookSecret: SECRET,
    databaseUrl: "file::memory:",
    delivery: "webhook",
    logLevel: "silent",
    // A wait between two tries of one request would last for ever, because the clock stands still.
    requestRetries: 0,
  });
  try {
    await bot.start({ listen: false });
  } catch (error) {
    await platform.close();
    throw error;
  }
  return new TestBot(bot, clock, platform);
}
