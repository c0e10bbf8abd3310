import type { BackoffOptions } from "../core/clock.ts";
import type { Retention } from "../inbox/inbox.ts";

/** In ms. Default of `handlerTimeoutMs`. */
export const HANDLER_TIMEOUT_MS = 60_000;

/** In ms. Default of `requestTimeoutMs`. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** Bytes. Bodies under way may take this much, or twice `MAX_BODY_BYTES` if that is more. */
export const MIN_BODIES_BYTES: number = 32 * 1024 * 1024;

/** In ms. Requests to `/readyz?verbose` within this time share one look at the store. */
export const REPORT_KEPT_MS: number = 1_000;

/** Default of `retry`: waits between the runs of a handler that failed. */
export const RETRY: BackoffOptions = { baseMs: 1_000, maxMs: 300_000, factor: 2 };

const DAY = 86_400_000;

/** Default of `retention`. */
export const RETENTION: Retention = {
  bodiesMs: 7 * DAY,
  idsMs: 30 * DAY,
  deadLettersMs: 90 * DAY,
};
