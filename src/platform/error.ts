/**
 * The codes that the local platform puts into the body of an answer. Those of section 7 of the
 * platform document come first; the others are ours, where it shows none (docs/reference/local-platform.md).
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
  // ours
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

/** A request that is refused: becomes the answer `{"error":{"code","message"}}` with this status. */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  /** The HTTP status. */
  readonly status: number;
  readonly code: PlatformErrorCode;
  /** Headers of the answer. */
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
 * The headers of a 503 that was not executed and may be sent again at once. With one of our codes a client needs
 * `Retry-After` to distinguish such an answer from a gateway's.
 */
export const RETRY_AT_ONCE: Readonly<Record<string, string>> = { "Retry-After": "0" };

/** 400 VALIDATION: the request has the wrong shape. */
export function invalid(message: string): PlatformError {
  return new PlatformError(400, "VALIDATION", message);
}

/** 404 NOT_FOUND. The same words for what does not exist and for what the bot may not see (section 4). */
export function notFound(what: string): PlatformError {
  return new PlatformError(404, "NOT_FOUND", `There is no such ${what}.`);
}
