import type { Bot } from "../../src/bot.ts";
import { SECRET } from "./formats.ts";

/** Returns the environment of a bot that receives deliveries but never reaches its platform. */
export function webhookEnv(
  databaseUrl: string,
  logLevel: string | undefined,
): Record<string, string | undefined> {
  return {
    // Not a loopback address, because the bot would take the server for a local platform and report its runs.
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

export async function startOnPort(bot: Bot): Promise<string> {
  await bot.start({ standalone: false });
  if (bot.url === undefined) throw new Error("the bot is not listening");
  return bot.url;
}
