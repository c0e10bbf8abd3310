import type { Random } from "../core/backoff.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { isHostName } from "../core/hosts.ts";
import { createLogger, type Logger } from "../core/logger.ts";
import { ConfigError } from "../errors.ts";
import type { Extension } from "./http/extensions.ts";
import { type LimitSettings, limitProblems } from "./limits/settings.ts";
import { API_KEY, CONTROL_TOKEN, WEBHOOK_SECRET } from "./secrets.ts";
import { MEMORY } from "./store/database.ts";

/** How a local platform is started. */
export interface PlatformOptions {
  /**
   * Listening address. Default 127.0.0.1. Requests are answered whose `Host` is a loopback name, the address that they
   * came to, or one of `allowHosts`. The control API needs the control token besides, wherever a request comes from.
   */
  readonly host?: string | undefined;
  /** Names that it answers to besides its own, without scheme and port, such as `platform.test`. Default none. */
  readonly allowHosts?: readonly string[] | undefined;
  /** 0 to 65535; 0 takes a free port. Default 0. */
  readonly port?: number | undefined;
  /** SQLite file that keeps everything. Default ":memory:", which forgets it at the end. */
  readonly stateFile?: string | undefined;
  /** The standard token, with every scope. Default: the one in the state file, else a new `sbk_…`. */
  readonly apiKey?: string | undefined;
  /** `whsec_…`. Default: the one in the state file, else a new one. */
  readonly webhookSecret?: string | undefined;
  /** The token of the control API: 16 or more letters, digits, `-` and `_`. Default: a new one with each start. */
  readonly controlToken?: string | undefined;
  /** From a failed delivery to the next round, in ms, from 1 up. Default 30,000 (section 8: about 30 s). */
  readonly retryIntervalMs?: number | undefined;
  /** Consecutive failures after which the webhook goes off, from 1 up. Default 20; not documented. */
  readonly disableAfter?: number | undefined;
  /** How long a delivery may take, in ms, from 1 up. Default 10,000; not documented. */
  readonly deliveryTimeoutMs?: number | undefined;
  /**
   * The rate limit and the daily quotas of an app: 0 to 1,000,000, or null for none. Default: those of the state
   * file, else none.
   */
  readonly limits?: Partial<LimitSettings> | undefined;
  /** What else is served under the same address. Default: nothing. */
  readonly extensions?: readonly Extension[] | undefined;
  /** What the platform's own clock goes by, which the control API moves. Default: the machine's time. */
  readonly clock?: Clock | undefined;
  /** Chooses the requests that faults with a rate touch. Default `Math.random`. */
  readonly random?: Random | undefined;
  /** Default: silent. */
  readonly logger?: Logger | undefined;
}

/** {@link PlatformOptions} with every default filled in. The secrets have theirs in the state file. */
export interface Settings {
  readonly host: string;
  readonly allowHosts: readonly string[];
  readonly port: number;
  readonly stateFile: string;
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly controlToken: string | undefined;
  readonly retryIntervalMs: number;
  readonly disableAfter: number;
  readonly deliveryTimeoutMs: number;
  readonly limits: Partial<LimitSettings>;
  readonly extensions: readonly Extension[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** @throws {ConfigError} naming every option that cannot be used */
export function settings(options: PlatformOptions): Settings {
  const chosen: Settings = {
    // An address as it stands in a URL is one, too.
    host: (options.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1"),
    allowHosts: options.allowHosts ?? [],
    port: options.port ?? 0,
    stateFile: options.stateFile ?? MEMORY,
    apiKey: options.apiKey,
    webhookSecret: options.webhookSecret,
    controlToken: options.controlToken,
    retryIntervalMs: options.retryIntervalMs ?? 30_000,
    disableAfter: options.disableAfter ?? 20,
    deliveryTimeoutMs: options.deliveryTimeoutMs ?? 10_000,
    limits: { ...options.limits },
    extensions: options.extensions ?? [],
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger(),
  };
  const problems = findProblems(chosen);
  if (problems.length > 0) throw new ConfigError(problems);
  return chosen;
}

function findProblems(chosen: Settings): string[] {
  const problems: string[] = [];
  if (!Number.isInteger(chosen.port) || chosen.port < 0 || chosen.port > 65_535) {
    problems.push("port: must be a whole number from 0 to 65535");
  }
  if (chosen.host === "") problems.push("host: must be an address or a name of this machine");
  if (!chosen.allowHosts.every(isHostName)) {
    problems.push(
      "allowHosts: must be names without scheme, port and wildcard, such as platform.test",
    );
  }
  for (const name of ["retryIntervalMs", "disableAfter", "deliveryTimeoutMs"] as const) {
    if (Number.isInteger(chosen[name]) && chosen[name] >= 1) continue;
    problems.push(`${name}: must be a whole number from 1 up`);
  }
  problems.push(...limitProblems(chosen.limits));
  if (chosen.apiKey !== undefined && !API_KEY.test(chosen.apiKey)) {
    problems.push("apiKey: must be printable ASCII without spaces");
  }
  if (chosen.webhookSecret !== undefined && !WEBHOOK_SECRET.test(chosen.webhookSecret)) {
    problems.push("webhookSecret: must begin with whsec_, without spaces and commas");
  }
  if (chosen.controlToken !== undefined && !CONTROL_TOKEN.test(chosen.controlToken)) {
    problems.push("controlToken: must be 16 or more letters, digits, - and _");
  }
  return problems;
}

function silentLogger(): Logger {
  return createLogger({ level: "silent", secrets: [], destination: { write: () => {} } });
}
