import type { ListenOptions } from "../../platform/index.ts";
import { type LimitSettings, MAX_LIMIT, NO_LIMITS } from "../../platform/limits/settings.ts";
import { localBaseUrl, variable } from "../dot-env.ts";
import { type Arguments, textFlag, textFlags, UsageError, wholeNumber } from "../usage.ts";
import { CONTROL_TOKEN_VARIABLE } from "./control-file.ts";

/** The port of the local platform unless another is asked for. */
export const PLATFORM_PORT = 4400;

/** The address of a platform on this machine. */
export function localPlatformUrl(port: number = PLATFORM_PORT): string {
  return `http://127.0.0.1:${port}`;
}

/**
 * Where the local platform is looked for when nobody says where it is: where `SERVICE_BASE_URL` says, or on the
 * usual port where that names a real one.
 */
export function usualPlatformUrl(): string {
  return localBaseUrl()?.origin ?? localPlatformUrl();
}

const HOUR_MS = 3_600_000;

/** Flags of the platform that `dev` has as well. */
export const platformFlags = {
  port: { type: "string" },
  host: { type: "string" },
  "allow-host": { type: "string", multiple: true },
  state: { type: "string" },
  "retry-interval": { type: "string" },
  "disable-after": { type: "string" },
} as const;

/**
 * What the flags and the environment say about a platform. Secrets come from the environment alone, and
 * not from one that names a real platform: those have no business here.
 *
 * @throws {UsageError}
 */
export function platformSettings(given: Arguments): ListenOptions & { readonly port: number } {
  const base = localBaseUrl();
  const stateFile = textFlag(given, "state");
  if (stateFile?.trim() === "") throw new UsageError("--state takes a file.");
  const host = textFlag(given, "host")?.trim();
  if (host === "") throw new UsageError("--host takes an address of this machine.");
  return {
    port: wholeNumber(given, "port", { min: 0, max: 65_535 }) ?? portOf(base) ?? PLATFORM_PORT,
    host,
    allowHosts: textFlags(given, "allow-host"),
    stateFile,
    apiKey: ownSecret("SERVICE_API_KEY"),
    // During a rotation the bot knows several; the platform signs with the first.
    webhookSecret: ownSecret("SERVICE_WEBHOOK_SECRET")?.split(",")[0]?.trim(),
    controlToken: variable(CONTROL_TOKEN_VARIABLE),
    retryIntervalMs: wholeNumber(given, "retry-interval", { min: 1, max: HOUR_MS }),
    disableAfter: wholeNumber(given, "disable-after", { min: 1, max: 1_000_000 }),
  };
}

/** A secret of the environment that is meant for a platform on this machine. */
export function ownSecret(name: string): string | undefined {
  return namesRealPlatform() ? undefined : variable(name);
}

/** True where `SERVICE_BASE_URL` is an address elsewhere. */
export function namesRealPlatform(): boolean {
  return variable("SERVICE_BASE_URL") !== undefined && localBaseUrl() === undefined;
}

/**
 * The limits of `--limit NAME=N`, of which there may be several; undefined when there is none.
 *
 * @throws {UsageError}
 */
export function limitsOf(given: Arguments): Partial<LimitSettings> | undefined {
  const all = textFlags(given, "limit").map((text): readonly [string, number] => {
    const [, name = "", digits] = /^(\w+)=(\d{1,7})$/.exec(text) ?? [];
    const value = Number(digits);
    if (Object.hasOwn(NO_LIMITS, name) && value <= MAX_LIMIT) return [name, value];
    const names = Object.keys(NO_LIMITS).join(", ");
    throw new UsageError(
      `--limit takes NAME=N, a limit and a whole number from 0 to ${MAX_LIMIT}, such as requestsPerMinute=60 (got "${text}"). Limits: ${names}.`,
    );
  });
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

function portOf(base: URL | undefined): number | undefined {
  return base === undefined ? undefined : Number(base.port) || undefined;
}
