/**
 * Error codes in the local platform's responses. The codes from section 7 of the platform document come first. The
 * remaining codes cover cases that the document leaves open (docs/reference/local-platform.md).
 */
export type PlatformErrorCode =
  | "BLOCKED_HOST"
  | "NOT_IMAGE"
  | "TOO_LARGE"
  | "VALIDATION"
  | "INVALID_IMAGE_KEY"
  | "TOO_MANY_IMAGES"
  | "GROUP_UNSUPPORTED"
  | "EMPTY"
  | "TOO_LONG"
  | "AGENT_SCOPE_MISSING"
  | "BLOCKED"
  | "NOT_FOUND"
  | "QUOTA_EXCEEDED"
  | "NOT_CONFIGURED"
  // Not in the platform document.
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "APP_DISABLED"
  | "METHOD_NOT_ALLOWED"
  | "WEBHOOK_OFF"
  | "BOT_UNREACHABLE"
  | "BOT_REFUSED"
  | "SNAPSHOTS_FULL"
  | "STATE_REPLACED"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "RATE_LIMITED"
  | "INJECTED_FAULT"
  | "TIMEOUT"
  | "BUSY"
  | "INTERNAL";

/** A rejected request. Becomes the response `{"error":{"code","message"}}` with this status. */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  /** HTTP status. */
  readonly status: number;
  readonly code: PlatformErrorCode;
  /** Response headers. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: PlatformErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/**
 * Headers of a 503 for a request that was not executed and may be retried immediately. Without `Retry-After`, a client
 * could not distinguish this response from a gateway's 503.
 */
export const RETRY_AT_ONCE: Readonly<Record<string, string>> = { "Retry-After": "0" };

export function invalid(message: string): PlatformError {
  return new PlatformError(400, "VALIDATION", message);
}

/** In characters. An id in an error may be longer than any real one. */
const MAX_SHOWN = 200;

/**
 * Returns a 404 NOT_FOUND error. The message never reveals that an object exists but is hidden from the bot (section 4
 * of the platform document).
 */
export function notFound(what: string): PlatformError {
  return new PlatformError(404, "NOT_FOUND", `There is no such ${what.slice(0, MAX_SHOWN)}.`);
}
