import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { isLoopback } from "../core/loopback.ts";
import { urlHost } from "../core/url-host.ts";

/** Reads `.env` of the current folder where there is one. What the environment has already set wins. */
export function readDotEnv(): void {
  if (existsSync(".env")) loadEnvFile(".env");
}

/**
 * Reads `.env` again after a change: variables that only the file has set are set anew, or removed.
 *
 * @param environment the environment before the file was read
 */
export function rereadDotEnv(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  readDotEnv();
}

/** A variable of the environment; set to nothing counts as not set. */
export function variable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/** The port of a bot unless PORT is set. */
export const BOT_PORT = 3000;

/**
 * Returns the address at which a bot with this environment takes deliveries on this machine.
 *
 * @param port the port that it listens on instead
 */
export function localWebhookUrl(port: number | string = variable("PORT") ?? BOT_PORT): string {
  const host = variable("HOST");
  const own = host === undefined || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const name = urlHost(own);
  return `http://${name}:${port}${variable("WEBHOOK_PATH") ?? "/webhook"}`;
}

/** `SERVICE_BASE_URL` where it is an address on this machine. */
export function localBaseUrl(): URL | undefined {
  const base = variable("SERVICE_BASE_URL");
  if (base === undefined || !URL.canParse(base)) return undefined;
  const url = new URL(base);
  return isLoopback(url.hostname) ? url : undefined;
}
