import type { Random } from "../core/clock.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { createLogger, type Logger } from "../core/logger.ts";
import { ConfigError } from "../errors.ts";
import { type LimitSettings, limitProblems } from "./api/limits.ts";
import { API_KEY, CONTROL_TOKEN, WEBHOOK_SECRET } from "./secrets.ts";
import { MEMORY } from "./store/database.ts";

/** How a local platform is created. */
export interface PlatformOptions {
  /** Its origin, for the addresses of images. Default `http://platform.test`; one that listens takes its own. */
  readonly url?: string | undefined;
  /** SQLite file that keeps everything. Default ":memory:", which forgets it at the end. */
  readonly stateFile?: string | undefined;
  /** The standard token, with every scope. Default: the one in the state file, otherwise a new `sbk_…`. */
  readonly apiKey?: string | undefined;
  /** `whsec_…`. Default: the one in the state file, otherwise a new one. */
  readonly webhookSecret?: string | undefined;
  /** The token of the control API: 16 or more letters, digits, `-` and `_`. Default: a new one with each start. */
  readonly controlToken?: string | undefined;
  /** Sends webhook deliveries, such as `(request) => bot.handle(request)`. Default: the network. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** From a failed delivery to the next round, in ms, from 1 up. Default 30,000 (section 8: about 30 s). */
  readonly retryIntervalMs?: number | undefined;
  /** Consecutive failures after which the webhook goes off, from 1 up. Default 20; not documented. */
  readonly disableAfter?: number | undefined;
  /** How long a delivery may take, in ms, from 1 up. Default 10,000; not documented. */
  readonly deliveryTimeoutMs?: number | undefined;
  /**
   * The rate limit and the daily quotas of an app: 0 to 1,000,000, or null for none. Default: those of the state
   * file, otherwise none.
   */
  readonly limits?: Partial<LimitSettings> | undefined;
  /** Source of the platform's own clock, which the control API moves. Default: the machine's time. */
  readonly clock?: Clock | undefined;
  /** Chooses the requests that faults with a rate touch. Default `Math.random`. */
  readonly random?: Random | undefined;
  /** Default: silent. */
  readonly logger?: Logger | undefined;
}

/** {@link PlatformOptions} with every default filled in. The secrets have theirs in the state file. */
export interface Settings {
  readonly url: string;
  readonly stateFile: string;
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly controlToken: string | undefined;
  readonly fetch: ((request: Request) => Promise<Response>) | undefined;
  readonly retryIntervalMs: number;
  readonly disableAfter: number;
  readonly deliveryTimeoutMs: number;
  readonly limits: Partial<LimitSettings>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** @throws {ConfigError} naming every option that cannot be used */
export function settings(options: PlatformOptions): Settings {
  const chosen = withDefaults(options);
  const problems = findProblems(chosen);
  if (problems.length > 0) throw new ConfigError(problems);
  return chosen;
}

function withDefaults(options: PlatformOptions): Settings {
  return {
    url: options.url ?? "http://platform.test",
    stateFile: options.stateFile ?? MEMORY,
    apiKey: options.apiKey,
    webhookSecret: options.webhookSecret,
    controlToken: options.controlToken,
    fetch: options.fetch,
    retryIntervalMs: options.retryIntervalMs ?? 30_000,
    disableAfter: options.disableAfter ?? 20,
    deliveryTimeoutMs: options.deliveryTimeoutMs ?? 10_000,
    limits: { ...options.limits },
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger(),
  };
}

function findProblems(chosen: Settings): string[] {
  const problems: string[] = [];
  for (const name of ["retryIntervalMs", "disableAfter", "deliveryTimeoutMs"] as const) {
    if (Number.isInteger(chosen[name]) && chosen[name] >= 1) continue;
    problems.push(`${name}: must be a whole number from 1 up`);
  }
  problems.push(...limitProblems(chosen.limits));
  if (URL.parse(chosen.url)?.origin !== chosen.url) {
    problems.push("url: must be an origin, such as http://platform.test");
  }
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
