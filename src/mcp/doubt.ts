import { ApiError, NetworkError } from "../client/errors.ts";
import type { ServiceBotError } from "../errors.ts";

/** Whether a write that failed with this may have been carried out all the same. */
export function isInDoubt(error: ServiceBotError): boolean {
  if (error instanceof NetworkError) return error.sent;
  // The platform took it, and what it said to that cannot be read.
  if (!(error instanceof ApiError)) return error.code === "API_INVALID_RESPONSE";
  return !error.saysNothingHappened;
}
