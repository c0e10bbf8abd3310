/**
 * Every code that this package puts on an error or into the body of an HTTP answer.
 * docs/reference/errors.md lists them all with their remedies; a test holds the two lists together.
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
  | "TRACING_MISSING"
  // receiving
  | "SIGNATURE_MISSING"
  | "SIGNATURE_MALFORMED"
  | "SIGNATURE_STALE"
  | "SIGNATURE_MISMATCH"
  | "BODY_INVALID"
  | "BODY_TOO_LARGE"
  | "BODY_INCOMPLETE"
  | "BODY_TIMEOUT"
  | "BODY_FRAGMENTED"
  | "BODIES_BUSY"
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
  | "INBOX_NOT_EMPTY"
  | "INBOX_UNFINISHED"
  | "INBOX_MOVED"
  | "INBOX_DIFFERS"
  | "DRIVER_MISSING"
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
  | "PAYLOAD_INVALID"
  | "HANDLER_MISSING"
  | "HANDLER_TIMEOUT"
  | "HANDLER_CRASHED"
  | "RETRY_LATER"
  | "GAVE_UP"
  | "INVALID_OPTION"
  | "LEASE_LOST"
  | "STEP_DUPLICATE"
  | "STEP_UNCERTAIN"
  | "STEP_RESULT_INVALID"
  | "STATE_INVALID"
  | "STATE_MISMATCH"
  | "REPLY_IMPOSSIBLE"
  | "NEXT_CALLED_TWICE"
  | "STATE_CONFLICT"
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
 * platform may have got new ones, comes as API_ERROR with its text in `ApiError.platformCode`.
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

/** Codes of an `ApiError`. */
export type ApiErrorCode = PlatformCode | "API_ERROR" | "API_REDIRECT";

/** Nothing can be put off for longer than this, in milliseconds: 365 days. */
export const MAX_WAIT_MS = 31_536_000_000;

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
    reason = "The handler asked for a later run.",
    options: ErrorOptions & { readonly counts?: boolean } = {},
  ) {
    super("RETRY_LATER", reason, options);
    if (!(delayMs >= 0 && delayMs <= MAX_WAIT_MS)) {
      const got = String(delayMs);
      throw new ServiceBotError(
        "INVALID_OPTION",
        `RetryLater takes 0 to ${MAX_WAIT_MS} ms (365 days), got ${got}.`,
      );
    }
    this.delayMs = Math.ceil(delayMs);
    this.counts = options.counts ?? true;
  }
}

/** An event waits for the loop guard, which has logged one warning for all events that it holds back. */
export class LoopHeld extends RetryLater {
  /** @param delayMs milliseconds, from 0 to 365 days */
  constructor(delayMs: number) {
    super(
      delayMs,
      "The loop guard postpones this event because the bot answered its account too often here. See loopGuard.",
      { counts: false },
    );
  }
}

/** Thrown by a handler that knows that no further run will help: the event is a dead letter at once. */
export class GiveUp extends ServiceBotError {
  override readonly name = "GiveUp";

  constructor(reason: string, options?: ErrorOptions) {
    super("GAVE_UP", reason, options);
  }
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

/** Returns whether an error has this code, of service-bot or of Node. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === code;
}

/** Returns the code of an error, of service-bot, Node or a database. "" if there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `  - ${line}`).join("\n");
}
