import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { isLoopback, urlHost } from "../core/addresses.ts";

/** The port of the local platform by default. */
export const PLATFORM_PORT = 4400;

/** The port of a bot by default. */
export const BOT_PORT = 3000;

/** The path of the MCP server over HTTP, on its own port and on a local platform. */
export const MCP_PATH = "/mcp";

/** The variable with a control token: a platform uses it, the other commands send it. */
export const CONTROL_TOKEN_VARIABLE = "SERVICE_CONTROL_TOKEN";

/** Reads `.env` of the current folder if there is one. Variables of the environment win. */
export function readDotEnv(): void {
  if (existsSync(".env")) loadEnvFile(".env");
}

/**
 * Reads `.env` again after a change. Variables that only the file has set are set anew, or removed.
 *
 * @param environment the environment before the file was read
 */
export function rereadDotEnv(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  readDotEnv();
}

/** Returns a variable of the environment; `undefined` if it is empty. */
export function variable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/**
 * Returns the address at which a bot with this environment takes deliveries on this machine.
 *
 * @param port the port that it listens on instead
 */
export function localWebhookUrl(port: number | string = variable("PORT") ?? BOT_PORT): string {
  const host = variable("HOST");
  const own = host === undefined || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${urlHost(own)}:${port}${variable("WEBHOOK_PATH") ?? "/webhook"}`;
}

/** Returns `SERVICE_BASE_URL` if it is an address on this machine. */
export function localBaseUrl(): URL | undefined {
  const url = URL.parse(variable("SERVICE_BASE_URL") ?? "");
  return url !== null && isLoopback(url.hostname) ? url : undefined;
}

/** True if `SERVICE_BASE_URL` is an address elsewhere. */
export function namesRealPlatform(): boolean {
  return variable("SERVICE_BASE_URL") !== undefined && localBaseUrl() === undefined;
}

/** Returns a secret of the environment if it is meant for a platform on this machine. */
export function ownSecret(name: string): string | undefined {
  return namesRealPlatform() ? undefined : variable(name);
}

/** Returns the address of a platform on this machine. */
export function localPlatformUrl(port: number = PLATFORM_PORT): string {
  return `http://127.0.0.1:${port}`;
}

/** Returns `SERVICE_BASE_URL` if it is on this machine, otherwise the local platform's usual address. */
export function usualPlatformUrl(): string {
  return localBaseUrl()?.origin ?? localPlatformUrl();
}
