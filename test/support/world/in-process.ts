import { setImmediate as turn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { Bot, type BotOptions, sign } from "../../../src/index.ts";
import { ManualClock } from "../../faces/testing.ts";
import { logSink } from "../log.ts";
import { BotClock } from "./bot-clock.ts";
import { memory, type Store } from "./stores.ts";

export const API_KEY = "for-tests-only";
export const SECRET = "whsec_of_this_test";

/** Longest wait, in ms of the manual clock. After this time, the test fails. */
const MAX_WAIT_MS = 10 * 60_000;

type Fetch = NonNullable<BotOptions["fetch"]>;
type Handling = Pick<Bot, "handle">;

export interface WorldOptions {
  /** Inbox of the bots. Default: in memory */
  readonly store?: Store;
  /** Options of every bot, which `startBot` may override. */
  readonly bots?: BotOptions;
}

export interface DeliveryOptions {
  /** Secret that signs the delivery. Default: the bot's */
  readonly secret?: string;
  /** Replace or add to the headers of a valid delivery. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A manual clock, an inbox and bots without a port, all in one process. Subclasses add the platform. */
export abstract class InProcess {
  readonly clock: ManualClock = new ManualClock(1_800_000_000_000);
  readonly log: ReturnType<typeof logSink> = logSink([API_KEY, SECRET]);
  /** Sends the bots' requests to the platform. */
  abstract readonly fetch: Fetch;
  store: Store;
  readonly #bots: BotOptions;

  constructor({ store = memory, bots = {} }: WorldOptions = {}) {
    this.store = store;
    this.#bots = bots;
  }

  /** Creates a bot, which has not started yet. */
  createBot<S = undefined>(options: BotOptions<S> = {}): Bot<S> {
    return new Bot<S>({
      env: {},
      baseUrl: "http://platform.test",
      apiKey: API_KEY,
      webhookSecret: SECRET,
      clock: this.clock,
      fetch: this.fetch,
      logger: this.log.log,
      random: () => 0.5,
      requestRetries: 0,
      ...this.store,
      ...(this.#bots as BotOptions<S>),
      ...options,
    });
  }

  /** Starts a bot that does not listen on a port, and stops when the test ends. */
  async startBot<S = undefined>(
    register: (bot: Bot<S>) => unknown = () => undefined,
    options: BotOptions<S> = {},
  ): Promise<Bot<S>> {
    const bot = this.createBot(options);
    register(bot);
    await bot.start({ listen: false });
    onTestFinished(async () => {
      const isKilled = options.clock instanceof BotClock && options.clock.isStopped;
      if (!isKilled) await this.stop(bot);
    });
    return bot;
  }

  /** Delivers events with the webhook's signature. Resolves to the status of the response. */
  async deliver(
    bot: Handling,
    events: object | readonly unknown[],
    { secret = SECRET, headers = {} }: DeliveryOptions = {},
  ): Promise<number> {
    const body = JSON.stringify({ events: [events].flat() });
    const signature = sign(body, secret, this.clock.now() / 1000);
    return (await this.post(bot, body, { "x-service-signature": signature, ...headers })).status;
  }

  async post(
    bot: Handling,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    return await bot.handle(
      new Request("http://bot.test/webhook", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
      }),
    );
  }

  /** Moves the clock until no event in the inbox is pending. */
  async settle(bot: Pick<Bot, "status">): Promise<void> {
    for (const end = this.clock.now() + MAX_WAIT_MS; this.clock.now() < end; ) {
      for (let n = 0; n < 10; n++) await turn();
      if ((await bot.status()).inbox?.pending === 0) return;
      await this.clock.advance(250);
    }
    throw new Error("events are still pending after ten minutes of the manual clock");
  }

  /** Stops a bot, moving the clock until it has stopped. */
  async stop(bot: Pick<Bot, "stop">): Promise<void> {
    const stopped = bot.stop();
    let isOver = false;
    void stopped.finally(() => {
      isOver = true;
    });
    // A bot without running handlers stops within a few turns, so the clock need not move.
    for (let n = 0; !isOver && n < 20; n++) await turn();
    for (const end = this.clock.now() + MAX_WAIT_MS; !isOver && this.clock.now() < end; ) {
      await this.clock.advance(1_000);
      await turn();
    }
    if (!isOver) throw new Error("the bot has not stopped after ten minutes of the clock");
  }
}
