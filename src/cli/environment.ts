import { isLoopback, urlHost } from "../core/addresses.ts";
import { loadDotEnv as readDotEnv } from "../core/small-file.ts";

export { readDotEnv };

export const PLATFORM_PORT = 4400;

export const BOT_PORT = 3000;

export const CONTROL_TOKEN_VARIABLE = "SERVICE_CONTROL_TOKEN";

/**
 * Loads `.env` again after a change. Updates or removes only variables that came from the file.
 *
 * @param environment the environment before `.env` was first loaded
 */
export function rereadDotEnv(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  readDotEnv();
}

export function variable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/**
 * Returns the local webhook URL of a bot with this environment.
 *
 * @param port overrides PORT
 */
export function localWebhookUrl(port: number | string = variable("PORT") ?? BOT_PORT): string {
  const host = variable("HOST");
  const own = host === undefined || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${urlHost(own)}:${port}${variable("WEBHOOK_PATH") ?? "/webhook"}`;
}

export function localBaseUrl(): URL | undefined {
  const url = URL.parse(variable("SERVICE_BASE_URL") ?? "");
  return url !== null && isLoopback(url.hostname) ? url : undefined;
}

export function namesRealPlatform(): boolean {
  return variable("SERVICE_BASE_URL") !== undefined && localBaseUrl() === undefined;
}

/** Returns a secret from the environment. Returns `undefined` if it belongs to a real platform. */
export function ownSecret(name: string): string | undefined {
  return namesRealPlatform() ? undefined : variable(name);
}

export function localPlatformUrl(port: number = PLATFORM_PORT): string {
  return `http://127.0.0.1:${port}`;
}

/**
 * Returns the URL of the platform that commands use by default: `SERVICE_BASE_URL` if it is on this machine, or port
 * 4400.
 */
export function usualPlatformUrl(): string {
  return localBaseUrl()?.origin ?? localPlatformUrl();
}
