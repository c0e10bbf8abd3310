import type { Fetch } from "./client/transport.ts";
import { type ConfigOverrides, settings } from "./config.ts";
import type { BackoffOptions, Clock, Random } from "./core/clock.ts";
import { RETRY_OPTIONS } from "./core/handler-options.ts";
import {
  BOOLEAN,
  CLOCK,
  COUNT,
  FUNCTION,
  KEY,
  type Kind,
  LOGGER,
  numberIn,
  OBJECT,
  STRINGS,
  TIME_LIMIT,
  WAIT,
} from "./core/kinds.ts";
import type { Logger } from "./core/logger.ts";
import type { OptionTable } from "./core/option-checks.ts";
import { SCHEMA, type StandardSchemaV1 } from "./core/standard-schema.ts";
import { MAX_WAIT_MS } from "./errors.ts";
import type { LaneOption } from "./events/lane.ts";
import type { Retention } from "./inbox/inbox.ts";
import type { Mode } from "./poller/mode.ts";
import type { LoopGuardOptions } from "./router/loop-guard.ts";

/** Options for a bot. They override the environment. Durations are in ms. `S` is the type of a conversation's state. */
export interface BotOptions<S = unknown> extends ConfigOverrides {
  /** Environment variables to read. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The bot's name, 1 to 100 characters, logged in the `bot` field of every line. Default: none. */
  readonly name?: string;
  /** Your own pino logger. Default: a logger that writes one JSON object per line to standard output. */
  readonly logger?: Logger;
  /**
   * Schema for each conversation's state, used by `ctx.state()`. Any library that implements Standard Schema v1 works,
   * such as zod, valibot or arktype. The initial state is the schema's output for `undefined` or `{}`, so each
   * property needs a default.
   */
  readonly state?: StandardSchemaV1<unknown, S>;
  /** Time limit for a handler. Default 60,000. */
  readonly handlerTimeoutMs?: number;
  /** Delays between runs of a failing handler. Default 1,000, doubling up to 300,000, with full jitter. */
  readonly retry?: Partial<BackoffOptions>;
  /**
   * Returns an event's lane, or `undefined` for the default lane. The bot handles the events in a lane in order, one at
   * a time. If the function throws, or returns anything else, such as a promise or an empty string, the bot logs an
   * error and uses the default lane.
   */
  readonly lane?: LaneOption;
  /** Deadline for one request to the platform, including its retries. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Maximum number of retries of a handler's request within that deadline, 0 to 10. Default 2. */
  readonly requestRetries?: number;
  /**
   * Duration of an instance's lease on a lane, at least 1,000. If the instance stops responding, the lane's events wait
   * until the lease expires. If its process ends, the lease ends within about 2 s. While a handler is running, the
   * lease is renewed every third of this time. The lease for reading the event log lasts half as long. Default 30,000.
   */
  readonly leaseMs?: number;
  /** Time that running handlers have to finish when the bot stops. Default 10,000. */
  readonly shutdownGraceMs?: number;
  /** Number of waiting events at which the bot starts rejecting deliveries with 503. Default 100,000. */
  readonly maxBacklog?: number;
  /**
   * Free disk space, in bytes, below which the bot rejects new events with 503. Default 64 MiB. SQLite only, because a
   * PostgreSQL server manages its own disk.
   */
  readonly minFreeBytes?: number;
  /**
   * How long the inbox keeps the data of finished events, and states after their last change. Default: event bodies 7
   * days, event ids (to recognize duplicates) 30 days, dead letters 90 days, states forever. `Infinity` means forever.
   */
  readonly retention?: Partial<Retention>;
  /**
   * Holds back an account's events in a conversation or on a post if the bot replies to the account there faster than a
   * human could write. `false` disables the guard. Default: 30 replies per 60,000 ms.
   */
  readonly loopGuard?: LoopGuardOptions | false;
  /**
   * Called when the bot switches to polling or back to the webhook. The bot logs any error that the callback throws.
   */
  readonly onSwitch?: (mode: Mode, reason: string) => unknown;
  /** Function that sends requests to the platform. Default: `node:http`. */
  readonly fetch?: Fetch;
  /**
   * Source of time. Default: a clock that starts at this machine's time and ignores later changes to the system time.
   */
  readonly clock?: Clock;
  /** Source of randomness for jitter. Default `Math.random`. */
  readonly random?: Random;
}

const DAY_MS = 86_400_000;

/** Defaults for options that several modules read, and for options with nested fields. */
export const defaults: Required<
  Pick<BotOptions, "handlerTimeoutMs" | "requestTimeoutMs" | "leaseMs" | "shutdownGraceMs">
> & {
  readonly retry: BackoffOptions;
  readonly retention: Retention;
} = {
  handlerTimeoutMs: 60_000,
  requestTimeoutMs: 10_000,
  leaseMs: 30_000,
  shutdownGraceMs: 10_000,
  retry: { baseMs: 1_000, maxMs: 300_000, factor: 2 },
  retention: {
    bodiesMs: 7 * DAY_MS,
    idsMs: 30 * DAY_MS,
    deadLettersMs: 90 * DAY_MS,
    statesMs: Number.POSITIVE_INFINITY,
  },
};

/** Options for `start`. */
export interface StartOptions {
  /** Whether to listen on HOST and PORT. Default `true`. Set to `false` if an existing server serves the bot. */
  readonly listen?: boolean;
  /**
   * Whether the bot controls the process. Default: the value of `listen`. If `true`, SIGTERM and SIGINT stop the bot
   * and end the process. The exit code is 2 if the configuration is invalid, and 1 if the bot cannot start or may no
   * longer use its inbox. If `false`, `start` rejects instead, a bot that may no longer use its inbox only stops, and
   * the application handles signals.
   */
  readonly standalone?: boolean;
}

/** Options for `middleware`. */
export interface MiddlewareOptions {
  /**
   * Whether to serve `/healthz` and `/readyz`, as the bot's own server does. Default `false`, because the application
   * may have its own.
   */
  readonly health?: boolean;
}

const RETENTION_OPTIONS: OptionTable<Retention> = {
  bodiesMs: numberIn(),
  idsMs: numberIn(),
  deadLettersMs: numberIn(),
  statesMs: numberIn(),
};

const LOOP_GUARD_OPTIONS: OptionTable<LoopGuardOptions> = {
  answers: numberIn({ min: 1, max: 10_000, whole: true }),
  perMs: TIME_LIMIT,
};

const ENVIRONMENT: Kind = {
  expected: "an object of strings",
  fits: (value) => OBJECT.fits(value) && Object.values(Object(value)).every(isText),
};

/** An option or a variable may be null, as the value of a missing field often is. */
function isText(value: unknown): boolean {
  return value === undefined || value === null || ["string", "number"].includes(typeof value);
}

/** Options without an environment variable, with the range of each number. */
const CODE_OPTIONS: OptionTable<Omit<BotOptions, keyof ConfigOverrides>> = {
  env: ENVIRONMENT,
  name: KEY,
  logger: LOGGER,
  state: SCHEMA,
  handlerTimeoutMs: TIME_LIMIT,
  retry: { options: RETRY_OPTIONS },
  lane: FUNCTION,
  requestTimeoutMs: TIME_LIMIT,
  requestRetries: numberIn({ max: 10, whole: true }),
  leaseMs: numberIn({ min: 1_000, max: MAX_WAIT_MS, maxText: "365 days", whole: true }),
  shutdownGraceMs: WAIT,
  maxBacklog: COUNT,
  minFreeBytes: numberIn(),
  retention: { options: RETENTION_OPTIONS },
  loopGuard: { options: LOOP_GUARD_OPTIONS, orFalse: true },
  onSwitch: FUNCTION,
  fetch: FUNCTION,
  clock: CLOCK,
  random: FUNCTION,
};

/** An option that replaces a variable. The bot checks its text together with the environment on startup. */
const SETTING: Kind = {
  expected: "a string or a number",
  fits: (value) => isText(value) || value instanceof URL,
};

const SECRETS: Kind = {
  expected: "a string or an array of strings",
  fits: (value) => SETTING.fits(value) || STRINGS.fits(value),
};

export const BOT_OPTIONS: OptionTable<object> = {
  ...CODE_OPTIONS,
  ...Object.fromEntries(Object.keys(settings).map((name) => [name, SETTING])),
  webhookSecret: SECRETS,
};

export const START_OPTIONS: OptionTable<StartOptions> = { listen: BOOLEAN, standalone: BOOLEAN };

export const MIDDLEWARE_OPTIONS: OptionTable<MiddlewareOptions> = { health: BOOLEAN };
