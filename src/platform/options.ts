import type { Random } from "../core/clock.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { createLogger, type Logger } from "../core/logger.ts";
import { ConfigError } from "../errors.ts";
import { type LimitSettings, limitProblems } from "./api/limits.ts";
import { API_KEY, CONTROL_TOKEN, WEBHOOK_SECRET } from "./secrets.ts";
import { MEMORY } from "./store/database.ts";

/** Options for a local platform. */
export interface PlatformOptions {
  /** The platform's origin, for image URLs. Default: `http://platform.test`, or the server's origin. */
  readonly url?: string | undefined;
  /** SQLite file for the state. Default ":memory:", which keeps nothing after the platform stops. */
  readonly stateFile?: string | undefined;
  /** Standard token with every scope. Default: the token in the state file, otherwise a new `sbk_…`. */
  readonly apiKey?: string | undefined;
  /** `whsec_…`. Default: the secret in the state file, otherwise a new one. */
  readonly webhookSecret?: string | undefined;
  /** Control API token: at least 16 letters, digits, `-` or `_`. Default: a new token on every startup. */
  readonly controlToken?: string | undefined;
  /** Sends webhook deliveries, for example `(request) => bot.handle(request)`. Default: the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Time between a failed delivery and its retry, in ms, at least 1. Default 30,000 (section 8 of the platform
   * document: about 30 s).
   */
  readonly retryIntervalMs?: number | undefined;
  /**
   * Number of consecutive failures that disables the webhook, at least 1. Default 20; the platform document does not
   * specify it.
   */
  readonly disableAfter?: number | undefined;
  /** Delivery timeout in ms, at least 1. Default 10,000; the platform document does not specify it. */
  readonly deliveryTimeoutMs?: number | undefined;
  /**
   * Rate limit and daily quotas for each app: 0 to 1,000,000, or `null` for unlimited. Default: the limits in the state
   * file, otherwise unlimited.
   */
  readonly limits?: Partial<LimitSettings> | undefined;
  /** Base of the platform's clock, which the control API can move. Default: the machine's time. */
  readonly clock?: Clock | undefined;
  /** Chooses the requests that a fault with `rate` affects. Default `Math.random`. */
  readonly random?: Random | undefined;
  /** Default: silent. */
  readonly logger?: Logger | undefined;
}

/** {@link PlatformOptions} with defaults filled in. `undefined` secrets come from the state file. */
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

/** @throws {ConfigError} names every invalid option */
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
    problems.push(`${name}: must be a whole number, 1 or more`);
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
