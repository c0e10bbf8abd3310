import { type ApiErrorCode, findCause, type PlatformCode, ServiceBotError } from "../errors.ts";

/** Details of an {@link ApiError}. `refusesToken` defaults to true for 401. */
interface ApiErrorDetails
  extends ErrorOptions,
    Partial<
      Pick<ApiError, "platformCode" | "retryAfterMs" | "requestId" | "local" | "refusesToken">
    > {
  readonly status: number;
  /** True if the response body was JSON with an error, like the platform's own errors. Default false. */
  readonly hasErrorBody?: boolean;
}

/**
 * The platform rejected a request (section 7 of the platform document). Some rules are checked by the client, which
 * then rejects a request with the same code before sending it. Each subclass is a kind of rejection.
 */
export class ApiError extends ServiceBotError {
  override readonly name: string = "ApiError";
  declare readonly code: ApiErrorCode;
  /** HTTP status. If the client itself rejected the request, the status that the platform would have returned. */
  readonly status: number;
  /**
   * The platform's error code as received, even if it is newer than this version. `undefined` if the response had no
   * code.
   */
  readonly platformCode: string | undefined;
  /** Wait requested by the platform (`Retry-After`), in ms, at most an hour. */
  readonly retryAfterMs: number | undefined;
  /** The platform's id for this request, to quote in support requests. `undefined` if the platform sends none. */
  readonly requestId: string | undefined;
  /** True if the client rejected the request without sending it. */
  readonly local: boolean;
  /**
   * True if the platform rejected the token or the whole app. The token is missing, unknown or revoked (401), or the
   * app is disabled. Every other request would fail as well, so the event is not the cause.
   */
  readonly refusesToken: boolean;
  readonly #hasErrorBody: boolean;

  constructor(message: string, details: ApiErrorDetails) {
    super(apiCodeOf(details), message, details);
    this.status = details.status;
    this.platformCode = details.platformCode;
    this.retryAfterMs = details.retryAfterMs;
    this.requestId = details.requestId;
    this.local = details.local ?? false;
    this.refusesToken = details.refusesToken ?? details.status === 401;
    this.#hasErrorBody = details.hasErrorBody ?? false;
  }

  /**
   * True if the same request may succeed later: after 408, 425, 429 (limits and quotas) and 5xx. `retryAfterMs` is the
   * wait, if the platform names one.
   */
  get retryable(): boolean {
    return this.status >= 500 || retryableStatuses.has(this.status);
  }

  /**
   * True if the request definitely had no effect. A 4xx response other than 408 guarantees this, because the platform
   * rejects such a request before acting on it. A 503 guarantees it only if the platform itself sent the response: a
   * JSON error body with a code from section 7 of the platform document, or with another code in capitals and
   * `Retry-After`. After a gateway's response or any other 5xx, a write may have taken effect.
   */
  get saysNothingHappened(): boolean {
    if (this.local) return true;
    // A 2xx response with an error body is a rejection only if its code is documented.
    if (this.status < 300) return this.code !== "API_ERROR";
    if (this.status === 503) return this.#isPlatformsOwn;
    return this.status < 500 && this.status !== 408;
  }

  get #isPlatformsOwn(): boolean {
    if (!this.#hasErrorBody) return false;
    if (this.code !== "API_ERROR") return true;
    return CODE.test(this.platformCode ?? "") && this.retryAfterMs !== undefined;
  }
}

/**
 * Format of the codes in section 7 of the platform document. Gateways use such codes too, so the format alone proves
 * nothing.
 */
const CODE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** The image is unusable because of its URL, size, format or upload key. */
export class ImageError extends ApiError {
  override readonly name = "ImageError";
  declare readonly code:
    | "BLOCKED_HOST"
    | "NOT_IMAGE"
    | "TOO_LARGE"
    | "INVALID_IMAGE_KEY"
    | "TOO_MANY_IMAGES";
}

/** The content or the request is invalid: empty, too long, malformed, or for a group. */
export class ContentError extends ApiError {
  override readonly name = "ContentError";
  declare readonly code: "VALIDATION" | "EMPTY" | "TOO_LONG" | "GROUP_UNSUPPORTED" | "API_ERROR";
}

/** The token is missing, unknown or lacks the scope (401, 403), or one party has blocked the other. */
export class AccessError extends ApiError {
  override readonly name = "AccessError";
  declare readonly code: "AGENT_SCOPE_MISSING" | "BLOCKED" | "API_ERROR";
}

/** The object does not exist, or the bot has no access to it. The platform returns 404 in both cases. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
  declare readonly code: "NOT_FOUND" | "API_ERROR";
}

/** Too many requests in a minute, or a daily quota is used up (429). */
export class LimitError extends ApiError {
  override readonly name = "LimitError";
  declare readonly code: "QUOTA_EXCEEDED" | "API_ERROR";
}

/** The platform cannot handle the request now (5xx). */
export class UnavailableError extends ApiError {
  override readonly name = "UnavailableError";
  declare readonly code: "NOT_CONFIGURED" | "API_ERROR";
}

type Family = new (message: string, details: ApiErrorDetails) => ApiError;

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

export const platformCodes: readonly PlatformCode[] = Object.keys(families) as PlatformCode[];

/** Creates an error of the subclass for the code or, if the code is unknown, for the status. */
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

/** Error codes that a {@link NetworkError} can have. */
export type NetworkErrorCode =
  | "API_UNREACHABLE"
  | "API_TIMEOUT"
  | "API_CIRCUIT_OPEN"
  | "API_BUDGET_SPENT";

/** A request failed without a response from the platform. */
export class NetworkError extends ServiceBotError {
  override readonly name = "NetworkError";
  declare readonly code: NetworkErrorCode;
  /** Always true, because the same request may succeed later. */
  readonly retryable = true;
  /** False if the request definitely never reached the platform, for example because no connection was made. */
  readonly sent: boolean;
  /**
   * Time to wait, in ms. For API_CIRCUIT_OPEN, until the next attempt to reach the platform. For API_BUDGET_SPENT,
   * approximately until the request can be sent.
   */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: NetworkErrorCode,
    message: string,
    options: ErrorOptions & { sent: boolean; retryAfterMs?: number },
  ) {
    super(code, message, options);
    this.sent = options.sent;
    this.retryAfterMs = options.retryAfterMs;
  }
}

const lastingCodes: ReadonlySet<string | undefined> = new Set(["QUOTA_EXCEEDED", "NOT_CONFIGURED"]);

/**
 * Returns whether an error lasts, and concerns a single operation. Quotas last for the day, and only an operator can
 * configure storage.
 */
export function isLasting({ platformCode }: ApiError): boolean {
  return lastingCodes.has(platformCode);
}

/** Statuses caused by the platform's state rather than by the request. */
const outageStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Returns the first outage among an error and its causes. A rejected token counts as an outage, because only an
 * operator can fix it.
 */
export function outageOf(error: unknown): ApiError | NetworkError | undefined {
  return findCause(
    error,
    (at): at is ApiError | NetworkError =>
      at instanceof NetworkError ||
      (at instanceof ApiError && (at.refusesToken || outageStatuses.has(at.status))),
  );
}

/**
 * Returns whether an error is a 403 whose code is not in section 7 of the platform document. Such a 403 may concern a
 * single request or the whole app.
 */
export function isUnexplained(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.refusesToken) return false;
  const { status, code, platformCode = "" } = error;
  return status === 403 && code === "API_ERROR" && !/SCOPE|PERMISSION/i.test(platformCode);
}
