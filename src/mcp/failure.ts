import { ApiError, LimitError, NetworkError } from "../client/index.ts";
import { printable } from "../core/safe-text.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import type { CallToolResult } from "./sdk.ts";
import type { Tool } from "./tool.ts";

const ERROR_META = "service-bot/error";

export interface Failure {
  /** A platform error code (section 7 of the platform document), or a code from docs/reference/errors.md. */
  readonly code: string;
  readonly message: string;
  /** Absent if there was no response. */
  readonly status?: number | undefined;
  /** True if the same call may succeed later and cannot take effect twice. */
  readonly retryable: boolean;
  /** In ms. Absent if the platform requests no delay. */
  readonly retryAfterMs?: number | undefined;
}

const IN_DOUBT =
  "The call may or may not have taken effect. Check before you call again, because a second call may repeat it.";

const IN_A_MINUTE = "Try again in a minute.";

/** Remedies by error code (section 7 of the platform document). All other client errors already name a remedy. */
const remedies: Readonly<Partial<Record<string, string>>> = {
  BLOCKED: "The bot or the user has blocked the other. Do not try again.",
  BLOCKED_HOST: "Pass a public https URL without a redirect, or the image as dataBase64.",
  EMPTY: "Pass text, imageKeys or both.",
  GROUP_UNSUPPORTED:
    "The conversation is a group. Bots can write only to conversations between two accounts.",
  NOT_IMAGE: "Pass the URL of the image itself: PNG, JPEG, WebP, GIF or AVIF.",
  TOO_LARGE: "An image may have at most 5 MB. Resize or compress it.",
  TOO_LONG: "Shorten the text, or split it.",
  TOO_MANY_IMAGES: "Attach at most 4 images.",
  VALIDATION: "Correct the arguments. The platform would reject the same arguments again.",
  API_INVALID_RESPONSE: "Inform the operator: the platform may be newer than this service-bot.",
};

export function failedResult(failure: Failure): CallToolResult {
  // The platform's message may quote any text.
  const message = printable(failure.message);
  return {
    isError: true,
    content: [{ type: "text", text: `${failure.code}: ${message}` }],
    _meta: { [ERROR_META]: { ...failure, message } },
  };
}

/** Describes a call's error. Returns `undefined` for a bug in this program, which has no remedy. */
export function failureOf(error: unknown, { writes = false }: Tool): Failure | undefined {
  if (!(error instanceof ServiceBotError)) return undefined;
  const code = codeOf(error);
  const inDoubt = writes && mayHaveHappened(error);
  const sentences = [messageOf(error), remedyFor(error, code), inDoubt ? IN_DOUBT : whenOf(error)];
  const message = sentences.filter((sentence) => sentence !== undefined).join(" ");
  if (error instanceof NetworkError) {
    return { code, message, retryable: !inDoubt, retryAfterMs: error.retryAfterMs };
  }
  if (!(error instanceof ApiError)) return { code, message, retryable: false };
  const { status, retryAfterMs } = error;
  return { code, message, status, retryable: error.retryable && !inDoubt, retryAfterMs };
}

function codeOf(error: ServiceBotError): string {
  if (error instanceof ApiError) return error.platformCode ?? error.code;
  // A client option is a tool argument.
  return error.code === "INVALID_OPTION" ? "VALIDATION" : error.code;
}

function mayHaveHappened(error: ServiceBotError): boolean {
  if (error instanceof NetworkError) return error.sent;
  if (error instanceof ApiError) return !error.saysNothingHappened;
  // The platform accepted the write, but its response is unreadable.
  return error.code === "API_INVALID_RESPONSE";
}

function remedyFor(error: ServiceBotError, code: string): string | undefined {
  // An error raised by the client itself already names the argument.
  const isLocal = error instanceof ApiError ? error.local : code !== "API_INVALID_RESPONSE";
  return isLocal || !Object.hasOwn(remedies, code) ? undefined : remedies[code];
}

function whenOf(error: ServiceBotError): string | undefined {
  if (error instanceof NetworkError) {
    const isAway = error.code === "API_UNREACHABLE" || error.code === "API_TIMEOUT";
    return isAway ? IN_A_MINUTE : undefined;
  }
  if (!(error instanceof ApiError)) return undefined;
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.ceil(error.retryAfterMs / 1_000);
    const when = seconds === 1 ? "in a second" : `in ${seconds} seconds`;
    return `Try again ${seconds === 0 ? "now" : when}.`;
  }
  const isPassing = error.code === "API_ERROR" && error.retryable;
  const isLimit = error instanceof LimitError && error.code !== "QUOTA_EXCEEDED";
  return isPassing || isLimit ? IN_A_MINUTE : undefined;
}
