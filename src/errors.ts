/**
 * Error codes of this package, in exceptions and in HTTP response bodies. docs/reference/errors.md lists every code
 * with its remedy, and a test compares the two lists. Includes the platform's codes ({@link PlatformCode}).
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
  | "BODY_ENCODED"
  | "BODY_TOO_LARGE"
  | "BODY_TOO_COMPLEX"
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
  // inbox
  | "INBOX_FULL"
  | "INBOX_IN_USE"
  | "INBOX_TOO_NEW"
  | "INBOX_TOO_OLD"
  | "INBOX_MISSING"
  | "INBOX_UNUSABLE"
  | "INBOX_NOT_EMPTY"
  | "INBOX_UNFINISHED"
  | "INBOX_MOVED"
  | "INBOX_LOST"
  | "INBOX_DIFFERS"
  | "DRIVER_MISSING"
  // inbox administration
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
  | "PATTERN_TIMEOUT"
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
  | "RUN_TOO_LARGE"
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
 * The platform's error codes (section 7 of the platform document). Any other code, such as one added later, becomes
 * API_ERROR, and `ApiError.platformCode` contains the original code.
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

/** Error codes that an `ApiError` can have. */
export type ApiErrorCode = PlatformCode | "API_ERROR" | "API_REDIRECT";

/** Longest time an event can be delayed, in ms (365 days). */
export const MAX_WAIT_MS = 31_536_000_000;

/** Base class for all of this package's errors. Match on `code`, never on the message. */
export class ServiceBotError extends Error {
  /** The class's name. */
  override readonly name: string = "ServiceBotError";
  /** Stable, unlike the message. Lists of codes: docs/reference/errors.md. */
  readonly code: ErrorCode;

  /**
   * Creates an error.
   *
   * @param options may contain the `cause`
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    // A JavaScript caller may pass an error as the message, or a value that cannot be read.
    super(messageOf(message), { cause: tryRead(() => options?.cause) });
    this.code = code;
  }
}

/** Thrown if the configuration is invalid. `problems` names each variable once, never its value. */
export class ConfigError extends ServiceBotError {
  override readonly name = "ConfigError";
  /** One sentence for each variable. */
  readonly problems: readonly string[];

  /**
   * Creates an error whose message lists the problems.
   *
   * @param problems one sentence for each variable
   */
  constructor(problems: readonly string[]) {
    super(
      "CONFIG_INVALID",
      `The configuration has ${count(problems.length, "problem")}:\n${list(problems)}`,
    );
    this.problems = problems;
  }
}

/**
 * Throw from a handler to retry the event later. The event's lane waits too, so its events stay in order. The attempt
 * counts unless `counts` is false. A handler that always throws with `counts: false` never finishes the event.
 */
export class RetryLater extends ServiceBotError {
  override readonly name: string = "RetryLater";
  /** Milliseconds, from 0 to 365 days. */
  readonly delayMs: number;
  /** Whether the run counts as an attempt. */
  readonly counts: boolean;

  /**
   * Creates an error that postpones the event.
   *
   * @param delayMs milliseconds, from 0 to 365 days
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(
    delayMs: number,
    reason = "The handler postponed the event.",
    options: ErrorOptions & { readonly counts?: boolean } = {},
  ) {
    super("RETRY_LATER", reason, options);
    const isWait = typeof delayMs === "number" && delayMs >= 0 && delayMs <= MAX_WAIT_MS;
    if (!isWait) {
      const got = typeof delayMs === "number" ? String(delayMs) : `a ${typeof delayMs}`;
      throw new ServiceBotError(
        "INVALID_OPTION",
        `The delay must be from 0 to ${MAX_WAIT_MS} ms (365 days), got ${got}.`,
      );
    }
    this.delayMs = Math.ceil(delayMs);
    this.counts = tryRead(() => options.counts) ?? true;
  }
}

/** Thrown to postpone an event that the loop guard holds back. The guard logs a single warning for all such events. */
export class LoopHeld extends RetryLater {
  /** The inbox recognizes the wait by this name. */
  override readonly name = "LoopHeld";

  /** @param delayMs milliseconds, from 0 to 365 days */
  constructor(delayMs: number) {
    super(
      delayMs,
      "The loop guard postponed this event because the bot replied to the account too often. See the loopGuard option.",
      { counts: false },
    );
  }
}

/** Throw from a handler if retrying cannot help. The event becomes a dead letter at once. */
export class GiveUp extends ServiceBotError {
  override readonly name = "GiveUp";

  /**
   * Creates an error that ends the event.
   *
   * @param reason stored with the dead letter
   */
  constructor(reason: string, options?: ErrorOptions) {
    super("GAVE_UP", reason, options);
  }
}

/**
 * Reads a value that a bot's author made, such as a thrown one. Returns `undefined` if reading throws, as it does for a
 * getter that throws or a revoked proxy.
 */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function isError(value: unknown): value is Error {
  return tryRead(() => value instanceof Error) === true;
}

/** Maximum number of causes to follow, because a getter may return a new cause each time. */
const MAX_CAUSES = 100;

/** Returns an error and its causes, outermost first. Ends at a cause that is not an error or cannot be read. */
export function causesOf(error: unknown): readonly Error[] {
  const chain = new Set<Error>();
  let at = error;
  while (isError(at) && !chain.has(at) && chain.size < MAX_CAUSES) {
    const found = at;
    chain.add(found);
    at = tryRead(() => found.cause);
  }
  return [...chain];
}

/** Returns the first match among an error and its causes. An error that `fits` cannot read does not match. */
export function findCause<T extends Error>(
  error: unknown,
  fits: (at: Error) => at is T,
): T | undefined {
  for (const at of causesOf(error)) if (tryRead(() => fits(at)) === true) return at as T;
  return undefined;
}

/** Stands for a text that cannot be read, because a getter or a conversion to a string throws. */
export const UNREADABLE = "(unreadable)";

export function messageOf(error: unknown): string {
  return tryRead(() => String(isError(error) ? error.message : error)) ?? UNREADABLE;
}

export function hasCode(error: unknown, code: string): boolean {
  return tryRead(() => Object(error).code === code) === true;
}

/** Returns the code of an error from service-bot, Node or a database, or "" if the error has none. */
export function codeOf(error: unknown): string {
  return tryRead(() => (isError(error) && "code" in error ? String(error.code) : "")) ?? "";
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `  - ${line}`).join("\n");
}
