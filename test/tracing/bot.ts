import { onTestFinished } from "vitest";
import { Bot, type BotOptions, sign } from "../../src/index.ts";
import { ManualClock, TestPlatform } from "../../src/testing/index.ts";
import { type LogRecord, logSink } from "../support/log.ts";

export const API_KEY = "key-of-this-test-5e1f8a62";
export const SECRET = "whsec_of_this_test";

/** A platform and its bots, on a manual clock. */
export class World {
  readonly clock: ManualClock = new ManualClock();
  readonly platform: TestPlatform = new TestPlatform({ clock: this.clock });
  /**
   * Removes the Date header from responses, so that before its first reply the bot must ask the platform for the time.
   */
  readonly #fetch: NonNullable<BotOptions["fetch"]> = async (url, init) => {
    const response = await this.platform.fetch(url, init);
    response.headers.delete("date");
    return response;
  };
  readonly #log = logSink([API_KEY, SECRET]);
  #events = 0;

  get records(): readonly LogRecord[] {
    return this.#log.records;
  }

  async start(register: (bot: Bot) => unknown, options: BotOptions = {}): Promise<Bot> {
    const { clock } = this;
    const bot = new Bot({
      env: {},
      baseUrl: "http://platform.test",
      apiKey: API_KEY,
      webhookSecret: SECRET,
      databaseUrl: "file::memory:",
      delivery: "webhook",
      retry: { baseMs: 1_000, factor: 1 },
      random: () => 0.5,
      logger: this.#log.log,
      fetch: this.#fetch,
      clock,
      ...options,
    });
    register(bot);
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    return bot;
  }

  message(excerpt: string, conversationId = "c_1"): object & { readonly id: string } {
    this.#events += 1;
    const event = {
      id: `evt_${this.#events}`,
      type: "dm.message" as const,
      createdAt: new Date(this.clock.now()).toISOString(),
      payload: {
        conversationId,
        from: { userId: "u_ada", username: "ada", name: "Ada" },
        excerpt,
      },
    };
    this.platform.happen(event);
    return event;
  }

  /** Delivers events to the bot. Resolves to the status of the response once the events are handled. */
  async deliver(
    bot: Bot,
    events: readonly unknown[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const body = JSON.stringify({ events });
    const signature = sign(body, SECRET, this.clock.now() / 1_000);
    const response = await bot.handle(
      new Request("http://bot.test/webhook", {
        method: "POST",
        headers: { "x-service-signature": signature, ...headers },
        body,
      }),
    );
    await bot.idle();
    return response.status;
  }
}
