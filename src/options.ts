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
 * Options of a bot in code. They override the environment. Durations are milliseconds.
 *
 * @typeParam S the state of a conversation
 */
export interface BotOptions<S = unknown> extends ConfigOverrides {
  /** The variables to read; `process.env` by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Name of the bot, which its log lines have in the field `bot`. 1 to 100 characters. Default: none. */
  readonly name?: string;
  /** A pino logger of your own; by default one JSON object a line on standard output. */
  readonly logger?: Logger;
  /**
   * Schema of the state of a conversation, for `ctx.state()`: of zod, valibot, arktype or any other library that follows
   * Standard Schema v1. What it returns for an empty object is the first state.
   */
  readonly state?: StandardSchemaV1<unknown, S>;
  /** How long a handler may run. Default 60,000. */
  readonly handlerTimeoutMs?: number;
  /** The waits between runs of a handler that fails. Default 1,000 doubling up to 300,000, with full jitter. */
  readonly retry?: Partial<BackoffOptions>;
  /** Chooses the lane of an event. Events of one lane are handled in order, one at a time. */
  readonly lane?: LaneOf;
  /** Deadline of one request to the platform, further tries included. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** How often a request of a handler is tried again within its deadline, from 0 to 10. Default 2. */
  readonly requestRetries?: number;
  /**
   * How long a lane stays with an instance that gives no sign of life, from 1,000 up: so long its events wait
   * when the instance is gone. Running handlers renew it every third of this. The reading of the event log stays
   * for half of it. Default 30,000.
   */
  readonly leaseMs?: number;
  /** How long running handlers get when the bot stops. Default 10,000. */
  readonly shutdownGraceMs?: number;
  /** How many events may wait before deliveries are answered with 503. Default 100,000. */
  readonly maxBacklog?: number;
  /**
   * New events are refused, with 503, while less than this is free on the disk, in bytes. Default 64 MiB. SQLite
   * only: the disk of PostgreSQL is its server's.
   */
  readonly minFreeBytes?: number;
  /**
   * How long what has ended is kept. Default: bodies 7 days, ids (by which repeats are recognised) 30 days,
   * dead letters 90 days, states for ever after they were last written. `Infinity` keeps for ever.
   */
  readonly retention?: Partial<Retention>;
  /**
   * Holds back events of an account that is answered in one conversation, or on one post, faster than a person writes.
   * `false` switches it off. Default: 30 answers per 60,000 ms.
   */
  readonly loopGuard?: LoopGuardOptions | false;
  /** Called when the bot switches to polling, and when it switches back. What it throws is logged. */
  readonly onSwitch?: (mode: Mode, reason: string) => unknown;
  /** Sends the requests to the platform. Default: `fetch` of the process. */
  readonly fetch?: Fetch;
  /** Source of the time. Default: the time of this machine, which is not moved when that is set. */
  readonly clock?: Clock;
  /** Spreads waits. Default `Math.random`. */
  readonly random?: Random;
}

const DAY_MS = 86_400_000;

/** Defaults of the options that several parts read, or that have parts of their own. */
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

/** How a bot is started. */
export interface StartOptions {
  /** Listen on HOST and PORT. Default true; false inside an existing server. */
  readonly listen?: boolean;
  /**
   * Own the process: stop and exit on SIGTERM and SIGINT, exit with 2 and one message when the
   * configuration is wrong, with 1 when the bot cannot start, or may no longer use its inbox. By default what
   * `listen` is. Otherwise `start` rejects, a bot that must not go on stops, and signals are the application's.
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

/** Options that are set in code alone, with the range of each number. */
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

/** Options with a variable are checked with the environment, when the bot starts. */
export const BOT_OPTIONS: OptionTable<object> = {
  ...CODE_OPTIONS,
  ...Object.fromEntries(Object.keys(settings).map((name) => [name, true])),
};

export const START_OPTIONS: OptionTable<StartOptions> = { listen: true, standalone: true };
