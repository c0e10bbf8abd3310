/**
 * Every code that this package puts on an error or into the body of an HTTP answer.
 * docs/errors.md lists them all with their remedies; a test holds the two lists together.
 * The codes of the platform itself are among them ({@link PlatformCode}).
 */
export type ErrorCode =
  | PlatformCode
  // start
  | "NODE_TOO_OLD"
  | "CONFIG_INVALID"
  | "NOT_STARTED"
  | "ALREADY_STARTED"
  | "ADDRESS_IN_USE"
  // receiving
  | "SIGNATURE_MISSING"
  | "SIGNATURE_MALFORMED"
  | "SIGNATURE_STALE"
  | "SIGNATURE_MISMATCH"
  | "BODY_INVALID"
  | "BODY_TOO_LARGE"
  | "BODY_INCOMPLETE"
  | "BODY_ALREADY_PARSED"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "NOT_READY"
  | "INTERNAL"
  | "STORE_UNAVAILABLE"
  // the inbox
  | "INBOX_FULL"
  | "INBOX_IN_USE"
  | "INBOX_TOO_NEW"
  | "INBOX_TOO_OLD"
  | "INBOX_MISSING"
  | "INBOX_UNUSABLE"
  // its administration
  | "EVENT_NOT_FOUND"
  | "EVENT_NOT_DEAD"
  | "EVENT_BODY_DROPPED"
  | "EVENT_ENDED"
  | "EVENT_LEASED"
  | "REASON_MISSING"
  | "CURSOR_INVALID"
  // handlers
  | "UNKNOWN_EVENT_TYPE"
  | "HANDLER_TIMEOUT"
  | "HANDLER_CRASHED"
  | "RETRY_LATER"
  | "GAVE_UP"
  | "INVALID_OPTION"
  | "LEASE_LOST"
  | "STEP_DUPLICATE"
  | "STEP_UNCERTAIN"
  | "REPLY_IMPOSSIBLE"
  | "NEXT_CALLED_TWICE"
  // the platform's API
  | "INVALID_ID"
  | "API_ERROR"
  | "API_UNREACHABLE"
  | "API_TIMEOUT"
  | "API_CIRCUIT_OPEN"
  | "API_BUDGET_SPENT"
  | "API_REDIRECT"
  | "API_INVALID_RESPONSE";

/**
 * The platform's own codes (section 7 of the platform document). A code that is not among them, for the
 * platform may have got new ones, comes as API_ERROR with its text in {@link ApiError.platformCode}.
 */
export type PlatformCode =
  // images
  | "BLOCKED_HOST"
  | "NOT_IMAGE"
  | "TOO_LARGE"
  | "INVALID_IMAGE_KEY"
  | "TOO_MANY_IMAGES"
  | "NOT_CONFIGURED"
  // content
  | "VALIDATION"
  | "EMPTY"
  | "TOO_LONG"
  | "GROUP_UNSUPPORTED"
  // access
  | "AGENT_SCOPE_MISSING"
  | "BLOCKED"
  | "NOT_FOUND"
  // limits
  | "QUOTA_EXCEEDED";

/** What the code of an {@link ApiError} can be. */
export type ApiErrorCode = PlatformCode | "API_ERROR" | "API_REDIRECT";

/** Nothing can be put off for longer than this, in milliseconds: 365 days. */
export const LONGEST_WAIT_MS = 31_536_000_000;

/** The base of every error that this package throws. Match on `code`, never on the message. */
export class ServiceBotError extends Error {
  override readonly name: string = "ServiceBotError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The configuration cannot be used. `problems` names each variable once, never its value. */
export class ConfigError extends ServiceBotError {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      "CONFIG_INVALID",
      `The configuration has ${count(problems.length, "problem")}:\n${list(problems)}`,
    );
    this.problems = problems;
  }
}

/** What is known of a refusal. */
export interface ApiErrorDetails {
  /** The HTTP status; of a refusal before anything was sent the one that the platform would have answered. */
  readonly status: number;
  /** The platform's code as it came. */
  readonly platformCode?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly local?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * The platform refused a request (section 7 of the platform document), or would have: what can be checked
 * beforehand is refused here, with the same code. The families below say what kind of refusal it is.
 */
export class ApiError extends ServiceBotError {
  override readonly name: string = "ApiError";
  declare readonly code: ApiErrorCode;
  readonly status: number;
  /** The platform's own code as it came, also one that is newer than this version; absent where there was none. */
  readonly platformCode: string | undefined;
  /** How long the platform asks to wait (`Retry-After`), in milliseconds, an hour at most. */
  readonly retryAfterMs: number | undefined;
  /** What the platform calls this request, for its support; absent where it does not say. */
  readonly requestId: string | undefined;
  /** True when it was refused before anything was sent. */
  readonly local: boolean;

  constructor(message: string, details: ApiErrorDetails) {
    super(apiCodeOf(details), message, "cause" in details ? { cause: details.cause } : {});
    this.status = details.status;
    this.platformCode = details.platformCode;
    this.retryAfterMs = details.retryAfterMs;
    this.requestId = details.requestId;
    this.local = details.local ?? false;
  }

  /**
   * Whether the same request may succeed later although nobody changes anything: after 408, 425, 429 (limits and
   * quotas) and 5xx; `retryAfterMs` says when, where the platform does.
   */
  get retryable(): boolean {
    return this.status >= 500 || retryableStatuses.has(this.status);
  }
}

const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** An image cannot be used: its address, size or kind, or the key of its upload. */
export class ImageError extends ApiError {
  override readonly name = "ImageError";
}

/** What was to be said, or asked for, is not right: empty, too long, of a wrong shape, for a group. */
export class ContentError extends ApiError {
  override readonly name = "ContentError";
}

/** The token is missing, unknown or without the scope (401, 403), or somebody has blocked somebody. */
export class AccessError extends ApiError {
  override readonly name = "AccessError";
}

/** There is no such thing, or the bot has no part in it: the platform does not tell which (404). */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** Too many requests in a minute, or a daily quota is used up (429). */
export class LimitError extends ApiError {
  override readonly name = "LimitError";
}

/** The platform cannot do it at present (5xx). */
export class UnavailableError extends ApiError {
  override readonly name = "UnavailableError";
}

type Family = typeof ApiError;

/** The platform's codes with the family of each. */
const families: { readonly [C in PlatformCode]: Family } = {
  BLOCKED_HOST: ImageError,
  NOT_IMAGE: ImageError,
  TOO_LARGE: ImageError,
  INVALID_IMAGE_KEY: ImageError,
  TOO_MANY_IMAGES: ImageError,
  NOT_CONFIGURED: UnavailableError,
  VALIDATION: ContentError,
  EMPTY: ContentError,
  TOO_LONG: ContentError,
  GROUP_UNSUPPORTED: ContentError,
  AGENT_SCOPE_MISSING: AccessError,
  BLOCKED: AccessError,
  NOT_FOUND: NotFoundError,
  QUOTA_EXCEEDED: LimitError,
};

const familyByStatus: ReadonlyMap<number, Family> = new Map<number, Family>([
  [400, ContentError],
  [401, AccessError],
  [403, AccessError],
  [404, NotFoundError],
  [413, ContentError],
  [415, ContentError],
  [422, ContentError],
  [429, LimitError],
]);

/** Every code of the platform that this version knows. */
export const platformCodes: readonly PlatformCode[] = Object.keys(families) as PlatformCode[];

/** The error of the family that the code, or else the status, belongs to. */
export function apiErrorOf(message: string, details: ApiErrorDetails): ApiError {
  const { status, platformCode = "" } = details;
  const byStatus = status >= 500 ? UnavailableError : (familyByStatus.get(status) ?? ApiError);
  return new (isPlatformCode(platformCode) ? families[platformCode] : byStatus)(message, details);
}

function apiCodeOf({ status, platformCode = "" }: ApiErrorDetails): ApiErrorCode {
  if (status >= 300 && status < 400) return "API_REDIRECT";
  return isPlatformCode(platformCode) ? platformCode : "API_ERROR";
}

function isPlatformCode(code: string): code is PlatformCode {
  return Object.hasOwn(families, code);
}

/**
 * No answer came from the platform.
 * `sent` says whether the request can have reached it: false when the connection was never made.
 */
export class NetworkError extends ServiceBotError {
  override readonly name = "NetworkError";
  /** Whether the same request may succeed later: always. */
  readonly retryable = true;
  readonly sent: boolean;
  /**
   * With API_CIRCUIT_OPEN: how long until the platform is tried again; with API_BUDGET_SPENT: about how long
   * until there is a place for the request. In milliseconds.
   */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: "API_UNREACHABLE" | "API_TIMEOUT" | "API_CIRCUIT_OPEN" | "API_BUDGET_SPENT",
    message: string,
    options: ErrorOptions & { sent: boolean; retryAfterMs?: number },
  ) {
    super(code, message, options);
    this.sent = options.sent;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Thrown by a handler that knows when to try again: the event waits that long, and its lane with it,
 * so that the order is kept. The attempt counts, unless `counts` is false; an event that is put off
 * without counting for ever stays for ever.
 */
export class RetryLater extends ServiceBotError {
  override readonly name = "RetryLater";
  /** Milliseconds, from 0 to 365 days. */
  readonly delayMs: number;
  readonly counts: boolean;

  /**
   * @param delayMs milliseconds, from 0 to 365 days
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(
    delayMs: number,
    reason = "The handler asked to be run again later.",
    options: ErrorOptions & { readonly counts?: boolean } = {},
  ) {
    super("RETRY_LATER", reason, options);
    if (!(delayMs >= 0 && delayMs <= LONGEST_WAIT_MS)) {
      const got = String(delayMs);
      throw new ServiceBotError(
        "INVALID_OPTION",
        `RetryLater takes milliseconds, from 0 to ${LONGEST_WAIT_MS}, which is 365 days (got ${got}).`,
      );
    }
    this.delayMs = Math.ceil(delayMs);
    this.counts = options.counts ?? true;
  }
}

/** Thrown by a handler that knows that no further run will help: the event is a dead letter at once. */
export class GiveUp extends ServiceBotError {
  override readonly name = "GiveUp";

  constructor(reason: string, options?: ErrorOptions) {
    super("GAVE_UP", reason, options);
  }
}

/** Statuses that speak of the platform's state, not of the request. */
const outageStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The outage of the platform that an error is, or that it was wrapped around as a cause. */
export function outageOf(error: unknown): ApiError | NetworkError | undefined {
  return findCause(
    error,
    (at): at is ApiError | NetworkError =>
      at instanceof NetworkError || (at instanceof ApiError && outageStatuses.has(at.status)),
  );
}

/** The first error that fits, from the error itself down its causes. */
export function findCause<T extends Error>(
  error: unknown,
  fits: (at: Error) => at is T,
): T | undefined {
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    if (fits(at)) return at;
    seen.add(at);
  }
  return undefined;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True when the error carries this code, be it ours or one of Node's system errors. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === code;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `  - ${line}`).join("\n");
}
