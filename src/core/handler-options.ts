import type { BackoffOptions } from "./backoff.ts";

/** Options of a handler that differ from its bot's, for the events of one type. */
export interface HandlerOptions {
  /** After this many failed runs the event goes to the dead letters; 1 or more. */
  readonly maxAttempts?: number;
  /** The waits between runs that fail, in milliseconds, each from 0 to 365 days. */
  readonly retry?: Partial<BackoffOptions>;
  /** How long a run may take, in milliseconds; more than 0, 365 days at most. */
  readonly timeoutMs?: number;
  /**
   * How many events of the type one instance handles at once, 1 or more. Not more than `CONCURRENCY`. Default: three
   * quarters of it where the bot handles several types, which leaves places to the others; otherwise all.
   */
  readonly concurrency?: number;
}

/** The rate at which a bot answers one account in one conversation, or on one post, or with posts of its own. */
export interface LoopGuardOptions {
  /** Events of one account in one place that are answered within `perMs`, from 1 to 10,000. Default 30. */
  readonly answers?: number;
  /** In ms, up to 365 days. Default 60,000. */
  readonly perMs?: number;
}
