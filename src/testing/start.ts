import { types } from "node:util";
import type { Fetch } from "../client/transport.ts";
import { FUNCTION, type Kind } from "../core/kinds.ts";
import {
  type OptionTable,
  readOptions,
  refuseProblems,
  requireKind,
} from "../core/option-checks.ts";
import { SECRET } from "./delivery.ts";
import { Failures } from "./failures.ts";
import { ManualClock } from "./manual-clock.ts";
import { type BotUnderTest, TestBot } from "./test-bot.ts";
import { ORIGIN, TestPlatform } from "./test-platform.ts";

/** Options for creating a bot under test. */
export interface TestBotOptions {
  /** Empty, so that the test does not depend on the environment. */
  readonly env: Readonly<Record<string, never>>;
  /** URL of the platform in the test's process. */
  readonly baseUrl: string;
  /** A token that this platform accepts. */
  readonly apiKey: string;
  /** Secret that signs the test's deliveries. */
  readonly webhookSecret: string;
  /** A database in memory. */
  readonly databaseUrl: string;
  /** Never polls, because the test delivers the events. */
  readonly delivery: "webhook";
  /** Logs nothing. */
  readonly logLevel: "silent";
  /** Sends each request once, so that a refusal fails the run at once. */
  readonly requestRetries: 0;
  /** Lease duration in ms. Longer than the default, because the clock stops at each lease renewal. */
  readonly leaseMs: number;
  /** Sends requests to the platform in the test's process. */
  readonly fetch: Fetch;
  /** Clock that `advance` moves. */
  readonly clock: ManualClock;
  /** Always 0.5, so that each retry waits for half of its longest backoff, and never for 0 ms. */
  readonly random: () => number;
}

/** Options for {@link testBot}. */
export interface TestOptions {
  /** Initial time of the clock. Default: the current time. */
  readonly now?: Date | string | number;
}

const TIME: Kind = {
  expected: "a time: a valid Date, ms since 1970 or a string such as 2026-11-23",
  fits: (value) => {
    const isTime = types.isDate(value) || ["string", "number"].includes(typeof value);
    return isTime && !Number.isNaN(new Date(value as Date).getTime());
  },
};

const TEST_OPTIONS: OptionTable<TestOptions> = { now: TIME };

/**
 * Starts a bot for a test. `createBot` must pass its options to the bot.
 *
 *     const bot = await testBot(createBot, { now: "2026-11-23" });
 *     assert.deepEqual((await bot.dm("hi")).replies, ["hello"]);
 *
 * @throws {ServiceBotError} INVALID_OPTION if `createBot` returns no bot or ignores the options
 * @throws any error from starting the bot
 */
export async function testBot<B extends BotUnderTest>(
  createBot: (options: TestBotOptions) => B | Promise<B>,
  options: TestOptions = {},
): Promise<TestBot<B>> {
  requireKind("createBot", createBot, FUNCTION);
  const clock = new ManualClock(startOf(options));
  const platform = new TestPlatform({ clock });
  try {
    const bot = await create(createBot, { clock, fetch: platform.fetch });
    const failures = new Failures(bot);
    await bot.start({ listen: false });
    return new TestBot({ bot, clock, platform, failures });
  } catch (error) {
    await platform.close();
    throw error;
  }
}

function startOf(options: TestOptions): number | undefined {
  const { now } = readOptions(options, TEST_OPTIONS);
  return now === undefined ? undefined : new Date(now).getTime();
}

async function create<B extends BotUnderTest>(
  createBot: (options: TestBotOptions) => B | Promise<B>,
  { clock, fetch }: Pick<TestBotOptions, "clock" | "fetch">,
): Promise<B> {
  let isRead = false;
  const options: TestBotOptions = {
    env: {},
    clock,
    // A bot that ignores its options would use the environment and the network.
    get fetch() {
      isRead = true;
      return fetch;
    },
    baseUrl: ORIGIN,
    apiKey: "for-tests-only",
    webhookSecret: SECRET,
    databaseUrl: "file::memory:",
    delivery: "webhook",
    logLevel: "silent",
    // A wait between two attempts would never end, because the clock stands still.
    requestRetries: 0,
    leaseMs: 3_600_000,
    random: () => 0.5,
  };
  const bot: B | undefined = await createBot(options);
  if (typeof bot?.start !== "function") refuseProblems(["createBot must return the bot"]);
  if (!isRead) refuseProblems(["createBot must pass its options on: new Bot(options)"]);
  return bot;
}
