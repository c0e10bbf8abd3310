import { Bot } from "../../src/bot.ts";
import { SECRET } from "./formats.ts";

/** A bot that takes deliveries into a file and never reaches its platform. It has no handlers yet, and does not run. */
export function makeWebhookBot(file: string, logLevel: string | undefined): Bot {
  return new Bot({ loopGuard: false, env: webhookEnv(`file:${file}`, logLevel) });
}

/** The environment of such a bot. */
export function webhookEnv(
  databaseUrl: string,
  logLevel: string | undefined,
): Record<string, string | undefined> {
  return {
    SERVICE_BASE_URL: "https://platform.invalid",
    SERVICE_API_KEY: "sk_bench_0123456789",
    SERVICE_WEBHOOK_SECRET: SECRET,
    DELIVERY: "webhook",
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: logLevel,
    HOST: "127.0.0.1",
    PORT: "0",
  };
}

/** Starts it. Resolves to its origin. */
export async function startOnPort(bot: Bot): Promise<string> {
  await bot.start({ standalone: false });
  if (bot.url === undefined) throw new Error("the bot does not listen");
  return bot.url;
}
