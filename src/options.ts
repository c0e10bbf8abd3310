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
 * Options of a bot in code. They override the environment. Durations are milliseconds. `S` is the state of a
 * conversation.
 */
export interface BotOptions<S = unknown> extends ConfigOverrides {
  /** Variables to read. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Name of the bot. Its log lines have the name in the field `bot`. 1 to 100 characters. Default: none. */
  readonly name?: string;
  /** A pino logger of your own. Default: one JSON object per line on standard output. */
  readonly logger?: Logger;
  /**
   * Schema of a conversation's state, for `ctx.state()`. Any library that follows Standard Schema v1 works, such as
   * zod, valibot or arktype. The schema's result for an empty object is the initial state.
   */
  readonly state?: StandardSchemaV1<unknown, S>;
  /** Time limit of a handler. Default 60,000. */
  readonly handlerTimeoutMs?: number;
  /** Waits between runs of a failing handler. Default 1,000, doubling up to 300,000, with full jitter. */
  readonly retry?: Partial<BackoffOptions>;
  /** Chooses the lane of an event. The bot handles the events of a lane in order, one at a time. */
  readonly lane?: LaneOf;
  /** Deadline of one request to the platform, including its retries. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Retries of a handler's request within its deadline, from 0 to 10. Default 2. */
  readonly requestRetries?: number;
  /**
   * Lease of an instance on a lane, from 1,000 up. If the instance dies, the lane's events wait this long. Running
   * handlers renew the lease every third of this time. The lease on reading the event log lasts half as long. Default
   * 30,000.
   */
  readonly leaseMs?: number;
  /** Time for running handlers to finish when the bot stops. Default 10,000. */
  readonly shutdownGraceMs?: number;
  /** Number of waiting events at which the bot answers deliveries with 503. Default 100,000. */
  readonly maxBacklog?: number;
  /**
   * Free disk space, in bytes, below which the bot refuses new events with 503. Default 64 MiB. SQLite only, because a
   * PostgreSQL server manages its own disk.
   */
  readonly minFreeBytes?: number;
  /**
   * How long the inbox keeps data of finished events, and states after their last change. Default: bodies 7 days, ids
   * (to recognise repeats) 30 days, dead letters 90 days, states forever. `Infinity` means forever.
   */
  readonly retention?: Partial<Retention>;
  /**
   * Holds back events of an account if the bot answers it faster than a person writes, in one conversation or on one
   * post. `false` switches the guard off. Default: 30 answers per 60,000 ms.
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
   * Source of time. Default: a clock that starts at this machine's time and ignores later changes of the system time.
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

/** Options of `start`. */
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

/** Options without a variable, with the range of each number. */
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

/** Options with a variable have no range here, because the bot checks them with the environment at the start. */
export const BOT_OPTIONS: OptionTable<object> = {
  ...CODE_OPTIONS,
  ...Object.fromEntries(Object.keys(settings).map((name) => [name, true])),
};

export const START_OPTIONS: OptionTable<StartOptions> = { listen: true, standalone: true };
