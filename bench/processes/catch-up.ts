import { subscribe } from "node:diagnostics_channel";
import { Client } from "../../src/client/client.ts";
import { steadyClock } from "../../src/core/clock.ts";
import { createLogger, type Logger } from "../../src/core/logger.ts";
import { defaultLane } from "../../src/events/lane.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { Bot } from "../../src/index.ts";
import { Poller } from "../../src/poller/poller.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";

/** Poll interval in ms. Longer than any round, so that the poller reads the log only once. */
const NEVER = 3_600_000;

const apiKey = "sbk_bench_bench";

/** Measures the time from the first request until every event is in the inbox. */
class Watch {
  #first = 0;
  readonly #stored = Promise.withResolvers<number>();
  /** The poller logs `polled` at the end of a round. */
  readonly log: Logger = createLogger({
    level: "info",
    secrets: [],
    destination: {
      write: (line) => {
        if (line.includes('"msg":"polled"')) this.#stored.resolve(this.elapsed);
      },
    },
  });

  constructor() {
    subscribe("http.client.request.start", () => {
      if (this.#first === 0) this.#first = performance.now();
    });
  }

  /** Time since the first request, in ms. */
  get elapsed(): number {
    return performance.now() - this.#first;
  }

  get stored(): Promise<number> {
    return this.#stored.promise;
  }
}

const handlers = {
  poller: async (baseUrl: string): Promise<number> => {
    const folder = makeFolder();
    const watch = new Watch();
    const { log } = watch;
    const clock = steadyClock();
    const inbox = new SqliteInbox({ file: folder.file("bot.db"), clock });
    const client = new Client({ baseUrl, apiKey, clock });
    const poller = new Poller({
      inbox,
      client,
      clock,
      log,
      laneOf: defaultLane,
      startFrom: "oldest",
      delivery: "polling",
      pollIntervalMs: NEVER,
      auditIntervalMs: NEVER,
      silenceMs: NEVER,
      webhookTypes: new Set(),
      platformClock: client,
    });
    poller.start();
    const ms = await watch.stored;
    await poller.stop();
    await inbox.close();
    folder.remove();
    return ms;
  },
  /** Runs a whole bot with a no-op handler. Resolves to the time until every event was handled, in ms. */
  bot: async (baseUrl: string): Promise<number> => {
    const folder = makeFolder();
    const watch = new Watch();
    const bot = new Bot({
      env: {},
      baseUrl,
      apiKey,
      delivery: "polling",
      startFrom: "oldest",
      pollIntervalMs: NEVER,
      port: 0,
      databaseUrl: `file:${folder.file("bot.db")}`,
      logger: watch.log,
    });
    bot.on("dm.message", () => Promise.resolve());
    await bot.start({ standalone: false });
    await watch.stored;
    await bot.idle();
    const handled = watch.elapsed;
    await bot.stop();
    folder.remove();
    return handled;
  },
};

export type CatchUp = typeof handlers;

answer(handlers);
