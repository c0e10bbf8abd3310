import { onTestFinished } from "vitest";
import { Bot, type BotOptions } from "../../src/index.ts";
import { type ListenOptions, type Platform, startPlatform } from "../faces/platform.ts";
import { logSink } from "./log.ts";

export async function runPlatform(options: ListenOptions = {}): Promise<Platform> {
  const platform = await startPlatform(options);
  onTestFinished(() => platform.stop());
  return platform;
}

export function botOptions(platform: Platform): BotOptions {
  return {
    env: {},
    baseUrl: platform.url,
    apiKey: platform.apiKey,
    webhookSecret: platform.webhookSecret,
    databaseUrl: "file::memory:",
    port: 0,
    requestTimeoutMs: 2_000,
  };
}

/** Starts a bot that receives the platform's deliveries, and records its log. */
export async function runBot(
  platform: Platform,
  register: (bot: Bot) => unknown,
  options: BotOptions = {},
): Promise<{ readonly bot: Bot; readonly log: ReturnType<typeof logSink> }> {
  const log = logSink([platform.apiKey, platform.webhookSecret]);
  const bot = new Bot({ ...botOptions(platform), logger: log.log, ...options });
  register(bot);
  await bot.start({ standalone: false });
  onTestFinished(() => bot.stop());
  platform.control.saveWebhook({ url: `${bot.url}/webhook` });
  return { bot, log };
}
