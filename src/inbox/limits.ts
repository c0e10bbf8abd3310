import { ServiceBotError } from "../errors.ts";

/** So many runs are kept of each event: an outage may put one off thousands of times. */
export const KEPT_RUNS = 50;

/** An event whose runs have ended with the process so often may be what ends it. */
export const CRASHES = 2;

/** A lane whose event has to wait for another one is looked at again after this, in milliseconds. */
export const SUSPECT_WAIT_MS = 200;

/** So many events may be pending before more are refused, where nothing else is said. */
export const MAX_BACKLOG = 100_000;

export function inboxFull(pending: number, most: number): ServiceBotError {
  return new ServiceBotError(
    "INBOX_FULL",
    `${pending} events wait to be handled, and the limit is ${most}.`,
  );
}
