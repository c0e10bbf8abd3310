import {
  type ApiErrorCode,
  findCause,
  messageOf,
  type PlatformCode,
  ServiceBotError,
} from "../errors.ts";

/** Details of a refusal. `refusesToken` is true by default after 401. */
interface ApiErrorDetails
  extends ErrorOptions,
    Partial<
      Pick<ApiError, "platformCode" | "retryAfterMs" | "requestId" | "local" | "refusesToken">
    > {
  readonly status: number;
  /** True when the body was JSON with an error, as the platform's own errors are. Default false. */
  readonly hasErrorBody?: boolean;
}

/**
 * The platform refused a request (section 7 of the platform document), or would have: some rules are checked
 * beforehand, with the same code. The families below are kinds of refusals.
 */
export class ApiError extends ServiceBotError {
  override readonly name: string = "ApiError";
  declare readonly code: ApiErrorCode;
  /** The HTTP status. A refusal before anything was sent has the status that the platform would have answered. */
  readonly status: number;
  /** The platform's own code as received, even one that is newer than this version; absent without a code. */
  readonly platformCode: string | undefined;
  /** How long the platform asks to wait (`Retry-After`), in milliseconds, an hour at most. */
  readonly retryAfterMs: number | undefined;
  /** The platform's id of this request, for its support; absent if it sends none. */
  readonly requestId: string | undefined;
  /** True when it was refused before anything was sent. */
  readonly local: boolean;
  /**
   * True when the platform refuses the token or the app as a whole: the token is missing, unknown or revoked (401), or the app
   * is switched off. Every other request would be refused as well, and none is the fault of an event.
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
   * Whether the same request may succeed later without any change: after 408, 425, 429 (limits and quotas) and 5xx.
   * `retryAfterMs` says when, if the platform does.
   */
  get retryable(): boolean {
    return this.status >= 500 || retryableStatuses.has(this.status);
  }

  /**
   * Whether the answer says that the request took no effect. True after 4xx except 408, because a request is refused before
   * it is carried out. After 503 it is true only if the answer is the platform's own: a JSON error body with a code that
   * section 7 names, or with another code in capitals together with `Retry-After`. A gateway's answer and any other 5xx
   * leave it open whether a write was carried out.
   */
  get saysNothingHappened(): boolean {
    if (this.local) return true;
    // A failure inside a success is a refusal only if its code is known.
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

/** The form of the codes of section 7. Gateways write such words as well, so the form alone proves nothing. */
const CODE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** An image cannot be used: its address, size or kind, or the key of its upload. */
export class ImageError extends ApiError {
  override readonly name = "ImageError";
  declare readonly code:
    | "BLOCKED_HOST"
    | "NOT_IMAGE"
    | "TOO_LARGE"
    | "INVALID_IMAGE_KEY"
    | "TOO_MANY_IMAGES";
}

/** The content or the request is invalid: empty, too long, of a wrong shape, for a group. */
export class ContentError extends ApiError {
  override readonly name = "ContentError";
  declare readonly code: "VALIDATION" | "EMPTY" | "TOO_LONG" | "GROUP_UNSUPPORTED" | "API_ERROR";
}

/** The token is missing, unknown or without the scope (401, 403), or one party has blocked the other. */
export class AccessError extends ApiError {
  override readonly name = "AccessError";
  declare readonly code: "AGENT_SCOPE_MISSING" | "BLOCKED" | "API_ERROR";
}

/** There is no such thing, or the bot has no part in it: the platform does not say which (404). */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
  declare readonly code: "NOT_FOUND" | "API_ERROR";
}

/** Too many requests in a minute, or a daily quota is used up (429). */
export class LimitError extends ApiError {
  override readonly name = "LimitError";
  declare readonly code: "QUOTA_EXCEEDED" | "API_ERROR";
}

/** The platform cannot do it at present (5xx). */
export class UnavailableError extends ApiError {
  override readonly name = "UnavailableError";
  declare readonly code: "NOT_CONFIGURED" | "API_ERROR";
}

type Family = new (message: string, details: ApiErrorDetails) => ApiError;

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

/** Makes an error of the family of the code, or otherwise of the status. */
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

/** Codes of a {@link NetworkError}. */
export type NetworkErrorCode =
  | "API_UNREACHABLE"
  | "API_TIMEOUT"
  | "API_CIRCUIT_OPEN"
  | "API_BUDGET_SPENT";

/**
 * No answer came from the platform.
 * `sent` says whether the request can have reached it: false when the connection was never made.
 */
export class NetworkError extends ServiceBotError {
  override readonly name = "NetworkError";
  declare readonly code: NetworkErrorCode;
  /** Whether the same request may succeed later: always. */
  readonly retryable = true;
  /** False when the request cannot have reached the platform. */
  readonly sent: boolean;
  /**
   * In milliseconds. With API_CIRCUIT_OPEN until the platform is tried again, with API_BUDGET_SPENT about until the request
   * can be sent.
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

/** Statuses that concern the platform's state, not the request. */
const outageStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Returns the outage of the platform that an error is, or has as a cause. A refused token is an outage too, because
 * only a person can mend it.
 */
export function outageOf(error: unknown): ApiError | NetworkError | undefined {
  return findCause(
    error,
    (at): at is ApiError | NetworkError =>
      at instanceof NetworkError ||
      (at instanceof ApiError && (at.refusesToken || outageStatuses.has(at.status))),
  );
}

/** Returns whether an error is a 403 that section 7 does not explain: it may concern one request, or the whole app. */
export function isUnexplained(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.refusesToken) return false;
  const { status, code, platformCode = "" } = error;
  return status === 403 && code === "API_ERROR" && !/SCOPE|PERMISSION/i.test(platformCode);
}

/** System errors after which the request cannot have reached the platform. */
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** TLS errors. Nothing was sent, because the other side did not prove its identity or speaks no TLS. */
const tlsFailures: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Converts an error of `fetch` into one that says whether the request can have arrived. */
export function unreachable(request: string, baseUrl: string, error: unknown): NetworkError {
  const causes = systemErrors(error);
  const code = causes.find(({ code }) => code !== undefined)?.code;
  const sent = causes.length === 0 || !causes.every(isBeforeConnected);
  const isTls = causes.some(({ code = "" }) => tlsFailures.has(code));
  const why = code === "ECONNREFUSED" ? "nothing listens there" : (code ?? deepestMessage(error));
  const hint = isTls
    ? "Its certificate is not trusted, or it does not speak TLS. Add its CA with NODE_EXTRA_CA_CERTS."
    : "Is the platform running? Check SERVICE_BASE_URL (baseUrl).";
  const what = sent
    ? `the connection to ${baseUrl} closed before the answer (${why}).`
    : `cannot reach ${baseUrl} (${why}). ${hint}`;
  return new NetworkError("API_UNREACHABLE", `${request}: ${what}`, { cause: error, sent });
}

export function timedOut(
  request: string,
  baseUrl: string,
  timeoutMs: number,
  cause: unknown,
): NetworkError {
  const what = `no answer from ${baseUrl} within ${timeoutMs} ms.`;
  return new NetworkError("API_TIMEOUT", `${request}: ${what}`, { cause, sent: true });
}

/** The error of `fetch` says that it failed, and its cause says why. */
function deepestMessage(error: unknown): string {
  let deepest = error;
  for (
    let depth = 0;
    depth < 5 && deepest instanceof Error && deepest.cause !== undefined;
    depth++
  ) {
    deepest = deepest.cause;
  }
  return messageOf(deepest);
}

interface SystemError {
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
}

/** A route can also be lost under an established connection; then reading or writing has failed. */
function isBeforeConnected({ code = "", syscall = "connect" }: SystemError): boolean {
  if (tlsFailures.has(code)) return true;
  return neverConnected.has(code) && (syscall === "connect" || syscall === "getaddrinfo");
}

/** `fetch` throws a bare TypeError; its cause has the system's errors, sometimes one for each address. */
function systemErrors(error: unknown): readonly SystemError[] {
  for (let at: unknown = error; typeof at === "object" && at !== null; ) {
    if ("errors" in at && Array.isArray(at.errors) && at.errors.length > 0) {
      return at.errors.flatMap(systemErrors);
    }
    if ("code" in at && typeof at.code === "string") {
      const syscall = "syscall" in at && typeof at.syscall === "string" ? at.syscall : undefined;
      return [{ code: at.code, syscall }];
    }
    at = "cause" in at ? at.cause : undefined;
  }
  return [];
}
