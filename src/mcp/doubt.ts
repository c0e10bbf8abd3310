import { ApiError, NetworkError } from "../client/errors.ts";
import type { ServiceBotError } from "../errors.ts";

/** Whether a write that failed with this may have been carried out all the same. */
export function isInDoubt(error: ServiceBotError): boolean {
  if (error instanceof NetworkError) return error.sent;
  // The platform took it, and what it said to that cannot be read.
  if (!(error instanceof ApiError)) return error.code === "API_INVALID_RESPONSE";
  // An earlier try of the same call was answered in a way that left it open.
  if (error.cause instanceof ApiError && isInDoubt(error.cause)) return true;
  // A failure in words that nobody knows, of the platform or of a gateway before it.
  const { code, status } = error;
  return code === "API_ERROR" && (status >= 500 || status === 408 || status < 300);
}
