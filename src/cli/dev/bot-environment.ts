import type { Platform } from "../../platform/index.ts";
import { BOT_PORT, variable } from "../dot-env.ts";
import { CommandError } from "../usage.ts";
import { findFreePort, isFree } from "./ports.ts";

/** In ms. A developer does not wait half a minute to see a retry, or polling take over. */
export const RETRY_INTERVAL_MS = 5_000;

/** A port for the bot. */
export interface ChosenPort {
  readonly port: number;
  /** The default port, if something else listens there; absent otherwise. */
  readonly taken?: number;
}

/**
 * Chooses the port of the bot: PORT, or the first one that is free from 3000 up.
 *
 * @throws {CommandError} PORT is set and taken
 */
export async function chooseBotPort(): Promise<ChosenPort> {
  const host = variable("HOST") ?? "127.0.0.1";
  const chosen = variable("PORT");
  if (chosen === undefined) {
    const port = await findFreePort(host, BOT_PORT);
    return port === BOT_PORT ? { port } : { port, taken: BOT_PORT };
  }
  const port = Number(chosen);
  // The bot itself reports what is no port.
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (!isPort || (await isFree(host, port))) return { port };
  throw new CommandError(
    `Port ${port} (PORT) is taken by another program: stop it, or set another PORT.`,
  );
}

/** The bot talks to this platform, and looks at the log often enough to watch it take over. */
export function botEnvironment(platform: Platform, port: number): Record<string, string> {
  return {
    SERVICE_BASE_URL: platform.url,
    SERVICE_API_KEY: platform.apiKey,
    SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
    ...(Number.isNaN(port) ? {} : { PORT: String(port) }),
    AUDIT_INTERVAL_MS: variable("AUDIT_INTERVAL_MS") ?? String(RETRY_INTERVAL_MS),
    SILENCE_MS: variable("SILENCE_MS") ?? String(RETRY_INTERVAL_MS * 1.5),
  };
}
