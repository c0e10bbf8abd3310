import type { Random } from "../core/clock.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { ANYTHING, CLOCK, FUNCTION, LOGGER, STRING } from "../core/kinds.ts";
import { createLogger, type Logger } from "../core/logger.ts";
import { inspectFields, type OptionTable } from "../core/option-checks.ts";
import { ConfigError } from "../errors.ts";
import { eachLimit, type LimitSettings, limitProblems } from "./limits.ts";
import { API_KEY, CONTROL_TOKEN, WEBHOOK_SECRET } from "./secrets.ts";
import { MEMORY } from "./store/database.ts";

/** Options for a local platform. */
export interface PlatformOptions {
  /** The platform's origin, used in image URLs. Default: `http://platform.test`, or the server's origin. */
  readonly url?: string | undefined;
  /** SQLite file for the state. Default: ":memory:", which is lost when the platform stops. */
  readonly stateFile?: string | undefined;
  /** Standard token, which has every scope. Default: the token in the state file, otherwise a new `sbk_…`. */
  readonly apiKey?: string | undefined;
  /** Webhook secret, `whsec_…`. Default: the secret in the state file, otherwise a new one. */
  readonly webhookSecret?: string | undefined;
  /** Control API token: at least 16 letters, digits, `-` or `_`. Default: a new token on every startup. */
  readonly controlToken?: string | undefined;
  /**
   * Function that sends webhook deliveries, for example `(request) => bot.handle(request)`. Default: the global
   * `fetch`.
   */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Time from a failed delivery to its retry, in ms, at least 1. Default 30,000 (section 8 of the platform document:
   * about 30 s).
   */
  readonly retryIntervalMs?: number | undefined;
  /**
   * Number of consecutive failures after which the webhook is disabled, at least 1. Default 20. The platform document
   * does not specify a number.
   */
  readonly disableAfter?: number | undefined;
  /** Delivery timeout in ms, at least 1. Default 10,000. The platform document does not specify a timeout. */
  readonly deliveryTimeoutMs?: number | undefined;
  /**
   * Rate limit and daily quotas of each app: 0 to 1,000,000, or `null` for unlimited. Default: the limits in the state
   * file, otherwise unlimited.
   */
  readonly limits?: Partial<LimitSettings> | undefined;
  /** Clock on which the platform's own clock is based. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Random number generator that selects the requests affected by a fault with `rate`. Default: `Math.random`. */
  readonly random?: Random | undefined;
  /** Default: no log output. */
  readonly logger?: Logger | undefined;
}

const OPTIONS: OptionTable<PlatformOptions> = {
  url: STRING,
  stateFile: STRING,
  apiKey: STRING,
  webhookSecret: STRING,
  controlToken: STRING,
  fetch: FUNCTION,
  retryIntervalMs: ANYTHING,
  disableAfter: ANYTHING,
  deliveryTimeoutMs: ANYTHING,
  limits: { options: eachLimit(ANYTHING) },
  clock: CLOCK,
  random: FUNCTION,
  logger: LOGGER,
};

/** {@link PlatformOptions} with defaults applied. A secret that is `undefined` comes from the state file. */
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

/** @throws {ConfigError} lists every invalid option */
export function settings(options: PlatformOptions): Settings {
  const { values, problems } = inspectFields(options, OPTIONS, "");
  const chosen = withDefaults(values);
  const all = [...problems, ...findProblems(chosen)];
  if (all.length > 0) throw new ConfigError(all);
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
  for (const problem of limitProblems(chosen.limits)) problems.push(problem);
  if (URL.parse(chosen.url)?.origin !== chosen.url) {
    problems.push("url: must be an origin, such as http://platform.test");
  }
  if (chosen.apiKey !== undefined && !API_KEY.test(chosen.apiKey)) {
    problems.push("apiKey: must be printable ASCII without spaces");
  }
  if (chosen.webhookSecret !== undefined && !WEBHOOK_SECRET.test(chosen.webhookSecret)) {
    problems.push("webhookSecret: must begin with whsec_ and contain no spaces or commas");
  }
  if (chosen.controlToken !== undefined && !CONTROL_TOKEN.test(chosen.controlToken)) {
    problems.push("controlToken: must be 16 or more letters, digits, - and _");
  }
  return problems;
}

function silentLogger(): Logger {
  return createLogger({ level: "silent", secrets: [], destination: { write: () => {} } });
}
