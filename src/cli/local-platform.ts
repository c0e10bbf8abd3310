import { networkInterfaces } from "node:os";
import { uncaughtErrors } from "../core/uncaught.ts";
import { ConfigError, hasCode } from "../errors.ts";
import type { ListenOptions, Platform } from "../platform/index.ts";
import { type LimitSettings, MAX_LIMIT, NO_LIMITS } from "../platform/limits.ts";
import { CommandError, type Flags, ownCommand, UsageError, wholeNumber } from "./command.ts";
import { controlClient } from "./control.ts";
import {
  CONTROL_TOKEN_VARIABLE,
  localBaseUrl,
  localPlatformUrl,
  ownSecret,
  PLATFORM_PORT,
  variable,
} from "./environment.ts";
import { extensions } from "./optional-commands.ts";

const HOUR_MS = 3_600_000;

export const platformFlags = {
  port: { type: "string", value: "4400", help: "port to listen on; 0 picks a free one" },
  host: {
    type: "string",
    value: "127.0.0.1",
    help: "address to listen on; 0.0.0.0 listens on all, so other machines can reach the API too",
  },
  "allow-host": {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "an additional host name to accept; repeatable",
  },
  state: {
    type: "string",
    value: "FILE",
    help: "store the state, including secrets, in this file; default: in memory",
  },
  "retry-interval": {
    type: "string",
    value: "30000",
    help: "wait before a failed delivery is retried, in ms",
  },
  "disable-after": {
    type: "string",
    value: "20",
    help: "disable the webhook after this many failures in a row",
  },
} as const;

/**
 * Reads secrets only from the environment, and ignores them if `SERVICE_BASE_URL` names a real platform.
 *
 * @throws {UsageError}
 */
export function platformSettings(
  flags: Flags<typeof platformFlags>,
): ListenOptions & { readonly port: number } {
  const base = localBaseUrl();
  const stateFile = flags.state;
  if (stateFile?.trim() === "") throw new UsageError("--state takes a file name.");
  const host = flags.host?.trim();
  if (host === "") throw new UsageError("--host takes an address of this machine.");
  return {
    port: wholeNumber(flags.port, "port", { min: 0, max: 65_535 }) ?? portOf(base) ?? PLATFORM_PORT,
    host,
    allowHosts: flags["allow-host"] ?? [],
    stateFile,
    apiKey: ownSecret("SERVICE_API_KEY"),
    // During a rotation, the bot has several secrets, and the platform signs with the first.
    webhookSecret: ownSecret("SERVICE_WEBHOOK_SECRET")?.split(",")[0]?.trim(),
    controlToken: variable(CONTROL_TOKEN_VARIABLE),
    retryIntervalMs: wholeNumber(flags["retry-interval"], "retry-interval", {
      min: 1,
      max: HOUR_MS,
    }),
    disableAfter: wholeNumber(flags["disable-after"], "disable-after", { min: 1, max: 1_000_000 }),
  };
}

export function limitsOf(texts: readonly string[] = []): Partial<LimitSettings> | undefined {
  const all = texts.map((text): readonly [string, number] => {
    const [, name = "", digits] = /^(\w+)=(\d{1,7})$/.exec(text) ?? [];
    const value = Number(digits);
    if (Object.hasOwn(NO_LIMITS, name) && value <= MAX_LIMIT) return [name, value];
    const names = Object.keys(NO_LIMITS).join(", ");
    throw new UsageError(
      `--limit takes NAME=N, such as requestsPerMinute=60, N from 0 to ${MAX_LIMIT} (got "${text}"). Names: ${names}.`,
    );
  });
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

function portOf(base: URL | undefined): number | undefined {
  return base === undefined ? undefined : Number(base.port) || undefined;
}

export const DEV_STATE_FILE = ".service-bot/dev.db";

const PROBE_TIMEOUT_MS = 1_000;

const flagOf: Readonly<Record<string, string>> = {
  apiKey: "SERVICE_API_KEY",
  webhookSecret: "SERVICE_WEBHOOK_SECRET",
  controlToken: CONTROL_TOKEN_VARIABLE,
  stateFile: "--state",
  allowHosts: "--allow-host",
  "host, port": "--port",
};

export async function startLocalPlatform(
  command: "platform" | "dev",
  options: ListenOptions & { readonly port: number },
): Promise<Platform> {
  // Imported on demand, because the import takes longer than most commands run.
  const { startPlatform } = await import("../platform/server.ts");
  try {
    const platform = await startPlatform({ ...options, extensions: Object.values(extensions) });
    const secrets = () => [platform.apiKey, platform.webhookSecret, platform.controlToken];
    uncaughtErrors.add({ secrets });
    return platform;
  } catch (error) {
    const { port } = options;
    if (hasCode(error, "ADDRESS_IN_USE"))
      throw new CommandError(await describePortConflict(command, port));
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.problems.map((problem) => toFlagProblem(problem, command));
    throw new CommandError(lines.join("\n"), { exitCode: 2 });
  }
}

async function describePortConflict(command: string, port: number): Promise<string> {
  const url = localPlatformUrl(port);
  const another = anotherPort(command, port < 65_535 ? port + 1 : 0);
  return (await isLocalPlatform(url))
    ? `Another local platform uses port ${port}: ${url}\nUse it, stop it, or run \`${another}\`.`
    : `Another program uses port ${port}.\nStop it, or run \`${another}\`.`;
}

async function isLocalPlatform(url: string): Promise<boolean> {
  try {
    await controlClient(url, { timeoutMs: PROBE_TIMEOUT_MS }).state();
    return false;
  } catch (error) {
    // Only a local platform rejects a request that lacks its control token.
    return hasCode(error, "UNAUTHORIZED");
  }
}

/** Replaces the option's name in a problem with its flag or variable. */
export function toFlagProblem(problem: string, command: string): string {
  const [, name = "", text = ""] = /^([\w, ]+): (.*)$/s.exec(problem) ?? [];
  const flag = Object.hasOwn(flagOf, name) ? flagOf[name] : undefined;
  if (flag === undefined) return problem;
  if (command === "dev" && text.startsWith(`another platform uses ${DEV_STATE_FILE};`))
    return "`npm run dev` is already running in this folder. Stop it first.";
  if (flag !== "--port") return `${flag}: ${text}`;
  // The address is not on this machine, or the name is unknown.
  if (/EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN/.test(text)) {
    return `--host: ${text}. Use an address of this machine, or 0.0.0.0 for all.`;
  }
  const why = text.includes("EACCES") ? " Ports below 1024 may need permission." : "";
  return `${flag}: ${text}.${why} Run \`${anotherPort(command, PLATFORM_PORT)}\`.`;
}

function anotherPort(command: string, port: number): string {
  return `${ownCommand()} ${command} --port ${port}`;
}

/**
 * Returns the portal's URLs: one for each IPv4 address of this machine, if the platform listens on all of them.
 *
 * @param host address that the platform listens on
 */
export function portalUrls({ portalUrl }: Platform, host: string | undefined): readonly string[] {
  if (host !== "0.0.0.0" && host !== "::") return [portalUrl];
  const elsewhere = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => {
      const url = new URL(portalUrl);
      url.hostname = address;
      return url.href;
    });
  return [portalUrl, ...elsewhere];
}
