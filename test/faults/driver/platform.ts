import { type ListenOptions, type Platform, startPlatform } from "../../faces/platform.ts";
import { COMPILE_CACHE } from "../../support/process.ts";

const NO_BOT = "http://127.0.0.1:9/webhook";

/**
 * Starts a platform that never gives up on a webhook, and retries soon.
 *
 * @param deliveries `driver` if the platform delivers nothing itself
 */
export async function startPatientPlatform(
  options: ListenOptions = {},
  deliveries: "platform" | "driver" = "platform",
): Promise<Platform> {
  const usual = { retryIntervalMs: 100, disableAfter: 1_000_000, deliveryTimeoutMs: 2_000 };
  const platform = await startPlatform({ ...usual, ...options });
  // The bot must also handle events that occur before it first listens.
  platform.control.saveWebhook({ url: NO_BOT, enabled: deliveries !== "driver" });
  return platform;
}

/** Returns the usual environment of a bot on this platform. */
export function usualEnv(platform: Platform): Record<string, string> {
  return {
    SERVICE_BASE_URL: platform.url,
    SERVICE_API_KEY: platform.apiKey,
    SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
    PORT: "0",
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    START_FROM: "oldest",
    POLL_INTERVAL_MS: "200",
    AUDIT_INTERVAL_MS: "1000",
    LOG_LEVEL: "warn",
    // Allow many attempts, so that kills cannot use them up. The poison scenario checks that attempts are counted.
    MAX_ATTEMPTS: "1000",
  };
}
