import { type Platform, type PlatformOptions, startPlatform } from "../../../src/platform/index.ts";
import { COMPILE_CACHE } from "./import-time.ts";

/** Where nothing listens: the discard port. */
const NOBODY = "http://127.0.0.1:9/webhook";

/** A platform that repeats soon, and never gives up a webhook. */
export async function patientPlatform(
  options: PlatformOptions = {},
  delivers = true,
): Promise<Platform> {
  const usual = { retryIntervalMs: 100, disableAfter: 1_000_000, deliveryTimeoutMs: 2_000 };
  const platform = await startPlatform({ ...usual, ...options });
  // What is written before the first bot listens is owed to it as well.
  platform.control.saveWebhook({ url: NOBODY, enabled: delivers });
  return platform;
}

/** The environment of a bot under test, but for its database. */
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
    // Being killed is not the event's fault; whether attempts are counted is checked elsewhere.
    MAX_ATTEMPTS: "1000",
  };
}
