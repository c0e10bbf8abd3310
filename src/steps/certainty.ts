import { ApiError, NetworkError } from "../client/errors.ts";
import { codeOf, findCause, messageOf, ServiceBotError } from "../errors.ts";
import { howToSettle } from "./step.ts";

/** What is known after the effect of a step has failed. */
export type EffectCertainty =
  /** Nothing can have happened. */
  | "none"
  /** It may have happened, and may still be under way. */
  | "under way"
  /** It may have happened; an answer came, so that it is over. */
  | "answered";

/** What an error leaves open: as much as the most doubtful of its causes. */
export function effectCertainty(error: unknown): EffectCertainty {
  const telling = findCause(error, isTelling);
  if (telling === undefined) return "none";
  const own = certaintyOfOne(telling);
  const below = telling.cause === undefined ? "none" : effectCertainty(telling.cause);
  return own === "under way" || below === "none" ? own : below;
}

function certaintyOfOne(telling: Error): EffectCertainty {
  if (telling instanceof NetworkError) return telling.sent ? "under way" : "none";
  if (isAbort(telling) || isBrokenConnection(telling)) return "under way";
  if (!(telling instanceof ApiError)) return "answered";
  if (telling.saysNothingHappened) return "none";
  // A gateway answers for a platform that may still be at it.
  return gatewayStatuses.has(telling.status) ? "under way" : "answered";
}

const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

function isTelling(error: Error): error is Error {
  if (error instanceof NetworkError || error instanceof ApiError) return true;
  if (isAbort(error) || isBrokenConnection(error)) return true;
  return error instanceof ServiceBotError && error.code === "API_INVALID_RESPONSE";
}

function isAbort(error: Error): boolean {
  return error.name === "AbortError" || error.name === "TimeoutError";
}

/** What Node and its `fetch` say of a connection that was there and broke, whoever was at its other end. */
function isBrokenConnection(error: Error): boolean {
  return /^(ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(SOCKET|ABORTED|HEADERS_TIMEOUT|BODY_TIMEOUT))$/.test(
    codeOf(error),
  );
}

/** A step that has just failed, and that can neither be looked for nor repeated. */
export function failedInside(step: string, event: string, cause: unknown): ServiceBotError {
  return new ServiceBotError(
    "STEP_UNCERTAIN",
    `The step "${shown(step)}" failed in a way that leaves open whether it took effect (${messageOf(cause)}). ` +
      remedy(event),
    { cause },
  );
}

/** A step that an earlier run has begun, and that can neither be looked for nor repeated. */
export function endedInside(step: string, event: string): ServiceBotError {
  return new ServiceBotError(
    "STEP_UNCERTAIN",
    `The run before this one ended inside the step "${shown(step)}": it was killed, stopped or out of time, or its ` +
      `result could not be recorded. Nobody can tell whether it took effect. ${remedy(event)}`,
  );
}

/** A step that may have been made before the inbox was restored, and that can neither be looked for nor repeated. */
export function restoredBefore(step: string, event: string): ServiceBotError {
  return new ServiceBotError(
    "STEP_UNCERTAIN",
    `The inbox was restored from a backup, and this event may have been handled before. Nobody can tell whether the step ` +
      `"${shown(step)}" took effect then. ${remedy(event)}`,
  );
}

function remedy(event: string): string {
  return `${howToSettle(event)} Mark the step as repeatable if doing it twice does no harm.`;
}

/** The name that the handler has given it. */
export function shown(step: string): string {
  return step.replace(/^step\//, "");
}
