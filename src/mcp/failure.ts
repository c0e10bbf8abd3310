import { ApiError, LimitError, NetworkError } from "../client/errors.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import type { CallToolResult } from "./sdk.ts";
import type { Tool } from "./tools/tool.ts";

/** Where programs find in a result what went wrong. */
export const ERROR_META = "service-bot/error";

/** What went wrong, for programs. */
export interface Failure {
  /** The platform's code (section 7), or one of ours (docs/errors.md). */
  readonly code: string;
  readonly message: string;
  /** Of the platform's answer; absent where there was none. */
  readonly status?: number | undefined;
  /** Whether the same call may succeed later although nobody changes anything. */
  readonly retryable: boolean;
  /** When to try again, where the platform says so: milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
}

/** A failed call as a result: whoever has called reads what to do about it. */
export function failedResult(failure: Failure): CallToolResult {
  const { code, message } = failure;
  return {
    isError: true,
    content: [{ type: "text", text: `${code}: ${message}` }],
    _meta: { [ERROR_META]: failure },
  };
}

/** @returns undefined for what is a mistake of this program: nobody else can do anything about it */
export function failureOf(error: unknown, tool: Tool): Failure | undefined {
  if (error instanceof ApiError) {
    const { status, retryable, retryAfterMs } = error;
    const code = error.platformCode ?? error.code;
    const message = `${error.message}${whenToRetry(error)}`;
    return { code, message, status, retryable, retryAfterMs };
  }
  if (error instanceof NetworkError) {
    const { code, retryable, retryAfterMs, sent } = error;
    const doubt =
      tool.writes && sent
        ? " Whether it was carried out is not known: look before you call again, or it may be there twice."
        : "";
    return { code, message: `${error.message}${doubt}`, retryable, retryAfterMs };
  }
  if (error instanceof ServiceBotError) {
    // What was given as an option there is an argument here.
    const code = error.code === "INVALID_OPTION" ? "VALIDATION" : error.code;
    return { code, message: messageOf(error), retryable: false };
  }
  return undefined;
}

function whenToRetry(error: ApiError): string {
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.ceil(error.retryAfterMs / 1_000);
    return ` Try again in ${seconds === 1 ? "a second" : `${seconds} seconds`}.`;
  }
  return error instanceof LimitError && error.code !== "QUOTA_EXCEEDED"
    ? " Try again in a minute."
    : "";
}
