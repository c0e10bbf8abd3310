import type { Fetch } from "./client/http.ts";
import { type ConfigOverrides, settings } from "./config.ts";
import type { BackoffOptions, Clock, Random } from "./core/clock.ts";
import type { Logger } from "./core/logger.ts";
import { COUNT, type OptionTable, RETRY_OPTIONS, TIME_LIMIT, WAIT } from "./core/option-checks.ts";
import type { StandardSchemaV1 } from "./core/standard-schema.ts";
import type { LaneOf } from "./events/lane.ts";
import type { Retention } from "./inbox/inbox.ts";
import type { Mode } from "./poller/mode.ts";
import type { LoopGuardOptions } from "./router/loops.ts";

/**
 * Bot options set in code. They override the environment. Durations are milliseconds. `S` is a conversation's state.
 */
export interface BotOptions<S = unknown> extends ConfigOverrides {
  /** Variables to read. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The bot's name. Log lines contain it in the field `bot`. 1 to 100 characters. Default: none. */
  readonly name?: string;
  /** Your own pino logger. Default: a logger that writes one JSON object per line on standard output. */
  readonly logger?: Logger;
  /**
   * Schema of a conversation's state, for `ctx.state()`. Any library that follows Standard Schema v1 works, such as
   * zod, valibot or arktype. The schema's result for an empty object is the initial state.
   */
  readonly state?: StandardSchemaV1<unknown, S>;
  /** Time limit for a handler. Default 60,000. */
  readonly handlerTimeoutMs?: number;
  /** Waits between a failing handler's runs. Default 1,000, doubling up to 300,000, with full jitter. */
  readonly retry?: Partial<BackoffOptions>;
  /** Chooses an event's lane. The bot handles a lane's events in order, one at a time. */
  readonly lane?: LaneOf;
  /** Deadline for one request to the platform, including its retries. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Retries of a handler's request within its deadline, from 0 to 10. Default 2. */
  readonly requestRetries?: number;
  /**
   * An instance's lease on a lane, at least 1,000. If the instance dies, the lane's events wait this long. Running
   * handlers renew the lease every third of this time. The lease on reading the event log lasts half as long. Default
   * 30,000.
   */
  readonly leaseMs?: number;
  /** Time for running handlers to finish when the bot stops. Default 10,000. */
  readonly shutdownGraceMs?: number;
  /** Number of waiting events at which the bot starts to refuse deliveries with 503. Default 100,000. */
  readonly maxBacklog?: number;
  /**
   * Free disk space, in bytes, below which the bot refuses new events with 503. Default 64 MiB. SQLite only, because a
   * PostgreSQL server manages its own disk.
   */
  readonly minFreeBytes?: number;
  /**
   * How long the inbox keeps finished events' data, and states after their last change. Default: bodies 7 days, ids (to
   * recognize repeated events) 30 days, dead letters 90 days, states forever. `Infinity` means forever.
   */
  readonly retention?: Partial<Retention>;
  /**
   * Holds back an account's events if the bot replies to it faster than a human writes, in one conversation or on one
   * post. `false` turns the guard off. Default: 30 replies per 60,000 ms.
   */
  readonly loopGuard?: LoopGuardOptions | false;
  /**
   * Called when the bot switches to polling, and when it switches back. The bot logs an error that this function
   * throws.
   */
  readonly onSwitch?: (mode: Mode, reason: string) => unknown;
  /** Sends the requests to the platform. Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /**
   * Source of time. Default: a clock that starts at this machine's time and ignores later changes to the system time.
   */
  readonly clock?: Clock;
  /** Source of jitter for waits. Default `Math.random`. */
  readonly random?: Random;
}

const DAY_MS = 86_400_000;

/** Defaults of options that several parts read, and of options with nested fields. */
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
  /** Listen on HOST and PORT. Default `true`. Set `false` inside an existing server. */
  readonly listen?: boolean;
  /**
   * Own the process. Default: the value of `listen`. The bot stops and exits on SIGTERM and SIGINT. It exits with 2 and
   * one message if the configuration is wrong. It exits with 1 if it cannot start, or may no longer use its inbox. If
   * `false`, `start` rejects, a bot that may not continue stops, and the application handles signals.
   */
  readonly standalone?: boolean;
}

const RETENTION_OPTIONS: OptionTable<Retention> = {
  bodiesMs: {},
  idsMs: {},
  deadLettersMs: {},
  statesMs: {},
};

const LOOP_GUARD_OPTIONS: OptionTable<LoopGuardOptions> = {
  answers: { min: 1, max: 10_000, whole: true },
  perMs: TIME_LIMIT,
};

/** Options that have no variable, with each number's range. */
const CODE_OPTIONS: OptionTable<Omit<BotOptions, keyof ConfigOverrides>> = {
  env: true,
  name: true,
  logger: true,
  state: true,
  handlerTimeoutMs: TIME_LIMIT,
  retry: { options: RETRY_OPTIONS },
  lane: true,
  requestTimeoutMs: TIME_LIMIT,
  requestRetries: { max: 10, whole: true },
  leaseMs: { ...WAIT, min: 1_000, whole: true },
  shutdownGraceMs: WAIT,
  maxBacklog: COUNT,
  minFreeBytes: {},
  retention: { options: RETENTION_OPTIONS },
  loopGuard: { options: LOOP_GUARD_OPTIONS },
  onSwitch: true,
  fetch: true,
  clock: true,
  random: true,
};

/** Options with a variable have no range here, because the bot checks them together with the environment on startup. */
export const BOT_OPTIONS: OptionTable<object> = {
  ...CODE_OPTIONS,
  ...Object.fromEntries(Object.keys(settings).map((name) => [name, true])),
};

export const START_OPTIONS: OptionTable<StartOptions> = { listen: true, standalone: true };
