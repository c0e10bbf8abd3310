import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { Bot, type BotOptions, sign } from "../../src/index.ts";
import { ManualClock, TestPlatform } from "../../src/testing/index.ts";
import { copyAsKilled } from "../support/killed-copy.ts";
import { logSink } from "../support/log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SECRET = "whsec_of_this_test";

/** Longest wait, in ms of the manual clock. After this time, the test fails. */
const MAX_SETTLE_MS = 10 * 60_000;

export interface DeliveredEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: { readonly conversationId: string };
}

/** A platform, a manual clock and bots on real SQLite files, all in one process. */
export class World {
  readonly clock: ManualClock = new ManualClock(1_800_000_000_000);
  readonly platform: TestPlatform = new TestPlatform({ clock: this.clock });
  readonly log: ReturnType<typeof logSink> = logSink();
  file: string = join(temporaryFolder(), "bot.db");
  readonly fetch: NonNullable<BotOptions["fetch"]> = this.platform.fetch;
  #events = 0;

  /** Starts a bot that does not listen on a port, and stops when the test ends. */
  async startBot<S>(register: (bot: Bot<S>) => void, options: BotOptions<S> = {}): Promise<Bot<S>> {
    const bot = new Bot<S>({
      env: {},
      baseUrl: "http://platform.test",
      apiKey: "key",
      webhookSecret: SECRET,
      databaseUrl: `file:${this.file}`,
      delivery: "webhook",
      clock: this.clock,
      fetch: this.fetch,
      logger: this.log.log,
      random: () => 0.5,
      requestRetries: 0,
      minFreeBytes: 0,
      ...options,
    });
    register(bot);
    await bot.start({ listen: false });
    onTestFinished(() => this.stop(bot));
    return bot;
  }

  /** Writes a user's message to the platform. Its event is not delivered yet. */
  write(conversationId: string, text: string): DeliveredEvent {
    this.#events += 1;
    const event = {
      id: `evt_${String(this.#events).padStart(4, "0")}`,
      type: "dm.message",
      createdAt: new Date(this.clock.now()).toISOString(),
      payload: {
        conversationId,
        messageId: `m_${this.#events}`,
        from: { username: conversationId, name: conversationId },
        excerpt: text,
      },
    };
    this.platform.happen(event);
    return event;
  }

  async deliver(bot: Pick<Bot, "handle">, ...events: readonly DeliveredEvent[]): Promise<number> {
    const body = JSON.stringify({ events });
    const signature = sign(body, SECRET, this.clock.now() / 1000);
    const headers = { "content-type": "application/json", "x-service-signature": signature };
    const request = new Request("http://bot.test/webhook", { method: "POST", headers, body });
    return (await bot.handle(request)).status;
  }

  sentTo(conversationId: string): string[] {
    return this.platform.sent
      .filter((sent) => sent.kind === "dm" && sent.conversationId === conversationId)
      .map(({ text }) => text);
  }

  /** Moves the clock until no event in the inbox is pending. */
  async settle(bot: Pick<Bot, "status">): Promise<void> {
    const end = this.clock.now() + MAX_SETTLE_MS;
    while (this.clock.now() < end) {
      for (let n = 0; n < 10; n++) await turn();
      if ((await bot.status()).inbox?.pending === 0) return;
      await this.clock.advance(250);
    }
    throw new Error("events are still pending after ten minutes of the manual clock");
  }

  /** Copies the inbox as it is on disk, just as SIGKILL would leave it. */
  copyInbox(): string {
    return copyAsKilled(this.file, join(temporaryFolder(), "bot.db"));
  }

  /** Stops a bot, moving the clock until it has stopped. */
  async stop(bot: Pick<Bot, "stop">): Promise<void> {
    const stopped = bot.stop();
    let isOver = false;
    void stopped.finally(() => {
      isOver = true;
    });
    for (const end = this.clock.now() + MAX_SETTLE_MS; !isOver && this.clock.now() < end; ) {
      await this.clock.advance(1_000);
      await turn();
    }
    if (!isOver) throw new Error("the bot has not stopped after ten minutes of the clock");
  }
}
