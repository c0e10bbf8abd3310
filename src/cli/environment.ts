import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { isLoopback, urlHost } from "../core/addresses.ts";

export const PLATFORM_PORT = 4400;

export const BOT_PORT = 3000;

/** Path of the MCP server over HTTP, on its own port and on a local platform. */
export const MCP_PATH = "/mcp";

/** Variable with the control token. The platform accepts this token, and the other commands send it. */
export const CONTROL_TOKEN_VARIABLE = "SERVICE_CONTROL_TOKEN";

/** Reads `.env` in the current folder, if any. Environment variables override the file. */
export function readDotEnv(): void {
  if (existsSync(".env")) loadEnvFile(".env");
}

/**
 * Reads `.env` again after a change. Variables that came only from the file are updated or removed.
 *
 * @param environment environment before the file was read
 */
export function rereadDotEnv(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  readDotEnv();
}

/** Returns an environment variable; `undefined` if it is empty. */
export function variable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/**
 * Returns the local URL for deliveries to a bot with this environment.
 *
 * @param port overrides PORT
 */
export function localWebhookUrl(port: number | string = variable("PORT") ?? BOT_PORT): string {
  const host = variable("HOST");
  const own = host === undefined || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${urlHost(own)}:${port}${variable("WEBHOOK_PATH") ?? "/webhook"}`;
}

/** Returns `SERVICE_BASE_URL` if it is on this machine. */
export function localBaseUrl(): URL | undefined {
  const url = URL.parse(variable("SERVICE_BASE_URL") ?? "");
  return url !== null && isLoopback(url.hostname) ? url : undefined;
}

/** Returns whether `SERVICE_BASE_URL` is on another machine. */
export function namesRealPlatform(): boolean {
  return variable("SERVICE_BASE_URL") !== undefined && localBaseUrl() === undefined;
}

/** Returns a secret from the environment; `undefined` if the secret belongs to a real platform. */
export function ownSecret(name: string): string | undefined {
  return namesRealPlatform() ? undefined : variable(name);
}

export function localPlatformUrl(port: number = PLATFORM_PORT): string {
  return `http://127.0.0.1:${port}`;
}

/** Returns the origin of `SERVICE_BASE_URL` if it is on this machine, otherwise the default URL of a local platform. */
export function usualPlatformUrl(): string {
  return localBaseUrl()?.origin ?? localPlatformUrl();
}
