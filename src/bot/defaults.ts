import type { Retention } from "../inbox/inbox.ts";

/** In milliseconds, where `handlerTimeoutMs` is not set. */
export const HANDLER_TIMEOUT_MS = 60_000;

/** In milliseconds, where `requestTimeoutMs` is not set. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** Bytes of bodies under way, where twice MAX_BODY_BYTES is less. */
export const MIN_BODIES_BYTES: number = 32 * 1024 * 1024;

/** In ms. `/readyz?verbose` asks the store once in this time, however often it is asked itself. */
export const REPORT_KEPT_MS: number = 1_000;

const DAY = 86_400_000;

/** Where `retention` is not set. */
export const RETENTION: Retention = {
  bodiesMs: 7 * DAY,
  idsMs: 30 * DAY,
  deadLettersMs: 90 * DAY,
};
