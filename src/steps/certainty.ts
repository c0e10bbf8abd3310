import { ApiError, NetworkError } from "../client/errors.ts";
import { codeOf, findCause, ServiceBotError } from "../errors.ts";

/** How certain it is, after an error, that an effect did not happen. */
export type EffectCertainty =
  /** Nothing can have happened. */
  | "absent"
  /** The effect may have happened, and its request may still be under way. */
  | "in flight"
  /** The effect may have happened, and its request is over. */
  | "ended";

/** Reads from an error whether an effect took place. The least certain of its causes decides. */
export function effectCertainty(error: unknown): EffectCertainty {
  const telling = findCause(error, isTelling);
  if (telling === undefined) return "absent";
  const own = certaintyOf(telling);
  const below = telling.cause === undefined ? "absent" : effectCertainty(telling.cause);
  return own === "in flight" || below === "absent" ? own : below;
}

function certaintyOf(error: Error): EffectCertainty {
  if (error instanceof NetworkError) return error.sent ? "in flight" : "absent";
  if (isAbort(error) || isBrokenConnection(error)) return "in flight";
  if (!(error instanceof ApiError)) return "ended";
  if (error.saysNothingHappened) return "absent";
  return gatewayStatuses.has(error.status) ? "in flight" : "ended";
}

/** A gateway answers even if the platform behind it is still at work. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

function isTelling(error: Error): error is Error {
  if (error instanceof NetworkError || error instanceof ApiError) return true;
  if (isAbort(error) || isBrokenConnection(error)) return true;
  return error instanceof ServiceBotError && error.code === "API_INVALID_RESPONSE";
}

function isAbort(error: Error): boolean {
  return error.name === "AbortError" || error.name === "TimeoutError";
}

/** Codes of Node and its `fetch` for an open connection that broke, whatever the handler was calling. */
function isBrokenConnection(error: Error): boolean {
  return /^(ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(SOCKET|ABORTED|HEADERS_TIMEOUT|BODY_TIMEOUT))$/.test(
    codeOf(error),
  );
}

/** The error of a step that can neither be looked for nor repeated. It parks the event for a person. */
export function uncertain(event: string, reason: string, cause?: unknown): ServiceBotError {
  return new ServiceBotError(
    "STEP_UNCERTAIN",
    `${reason} ${howToSettle(event)} Mark the step as repeatable if doing it twice does no harm.`,
    { cause },
  );
}

/**
 * The remedy for an event that was parked because of a step: the end of a STEP_UNCERTAIN message.
 *
 * @param event its id, where it is known
 */
export function howToSettle(event = "ID"): string {
  const retry = `service-bot inbox retry ${event} --assume`;
  return (
    `Look for it, then settle it: "${retry} done" when it took effect, "${retry} absent" when it did not, ` +
    `or discard the event. "service-bot inbox show ${event}" has the details.`
  );
}

/** The name of a step as the handler gave it. */
export function shownName(step: string): string {
  return step.replace(/^step\//, "");
}
