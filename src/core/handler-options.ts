import type { BackoffOptions } from "./clock.ts";
import { COUNT, numberIn, TIME_LIMIT, WAIT } from "./kinds.ts";
import type { OptionTable } from "./option-checks.ts";

/** Options for a retry policy. `factor` has no upper bound, because `maxMs` caps every wait. */
export const RETRY_OPTIONS: OptionTable<BackoffOptions> = {
  baseMs: WAIT,
  maxMs: WAIT,
  factor: numberIn(),
};

/** Options for a handler. They override the bot's options for events of one type. */
export interface HandlerOptions {
  /** Number of failed runs before the event becomes a dead letter, at least 1. */
  readonly maxAttempts?: number;
  /** Waits between failed runs, in ms, from 0 to 365 days each. */
  readonly retry?: Partial<BackoffOptions>;
  /** Time limit for a run, in ms, at least 1 and at most 365 days. */
  readonly timeoutMs?: number;
  /**
   * Number of events of this type that one instance handles at once, from 1 to `CONCURRENCY`. If the bot handles
   * several types, the default is three quarters of `CONCURRENCY`, so that other types keep some capacity. Otherwise it
   * is all of `CONCURRENCY`.
   */
  readonly concurrency?: number;
}

export const HANDLER_OPTIONS: OptionTable<HandlerOptions> = {
  maxAttempts: COUNT,
  retry: { options: RETRY_OPTIONS },
  timeoutMs: TIME_LIMIT,
  concurrency: COUNT,
};
