import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { isLoopback } from "../core/loopback.ts";
import { urlHost } from "../core/url-host.ts";

/** Reads `.env` of the current folder where there is one. What the environment has already set wins. */
export function readDotEnv(): void {
  if (existsSync(".env")) loadEnvFile(".env");
}

/** A variable of the environment; set to nothing counts as not set. */
export function variable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/** Where a bot with this environment takes deliveries on this machine. */
export function localWebhookUrl(): string {
  const host = variable("HOST");
  const own = host === undefined || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const name = urlHost(own);
  return `http://${name}:${variable("PORT") ?? "3000"}${variable("WEBHOOK_PATH") ?? "/webhook"}`;
}

/** `SERVICE_BASE_URL` where it is an address on this machine. */
export function localBaseUrl(): URL | undefined {
  const base = variable("SERVICE_BASE_URL");
  if (base === undefined || !URL.canParse(base)) return undefined;
  const url = new URL(base);
  return isLoopback(url.hostname) ? url : undefined;
}
