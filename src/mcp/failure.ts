import { ApiError, LimitError, NetworkError } from "../client/errors.ts";
import { printable } from "../core/terminal.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import { isInDoubt } from "./doubt.ts";
import { remedyFor } from "./remedies.ts";
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
  /** Whether the same call may succeed later although nobody changes anything, and cannot do it a second time. */
  readonly retryable: boolean;
  /** When to try again, where the platform says so: milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
}

/** A failed call as a result: whoever has called reads what to do about it. */
export function failedResult(failure: Failure): CallToolResult {
  // The platform's own words are in it, and who knows what they quote.
  const message = printable(failure.message);
  return {
    isError: true,
    content: [{ type: "text", text: `${failure.code}: ${message}` }],
    _meta: { [ERROR_META]: { ...failure, message } },
  };
}

/** @returns undefined for what is a mistake of this program: nobody else can do anything about it */
export function failureOf(error: unknown, tool: Tool): Failure | undefined {
  if (!(error instanceof ServiceBotError)) return undefined;
  const code = codeOf(error);
  const remedy = remedyFor(error, code);
  const inDoubt = tool.writes && isInDoubt(error);
  const told = [messageOf(error), remedy, inDoubt ? DOUBT : whenOf(error)];
  const message = told.filter((words) => words !== undefined).join(" ");
  if (error instanceof ApiError) {
    const { status, retryAfterMs } = error;
    return { code, message, status, retryable: error.retryable && !inDoubt, retryAfterMs };
  }
  if (error instanceof NetworkError) {
    return { code, message, retryable: !inDoubt, retryAfterMs: error.retryAfterMs };
  }
  return { code, message, retryable: false };
}

const DOUBT =
  "Whether it was carried out is not known: look before you call again, or it may be there twice.";

function codeOf(error: ServiceBotError): string {
  if (error instanceof ApiError) return error.platformCode ?? error.code;
  // What was given as an option there is an argument here.
  return error.code === "INVALID_OPTION" ? "VALIDATION" : error.code;
}

/** When to try again, where that helps. */
function whenOf(error: ServiceBotError): string | undefined {
  if (error instanceof NetworkError) {
    // The others say it themselves.
    const isAway = error.code === "API_UNREACHABLE" || error.code === "API_TIMEOUT";
    return isAway ? "Try again in a minute." : undefined;
  }
  if (!(error instanceof ApiError)) return undefined;
  if (error.retryAfterMs !== undefined) return `Try again ${inSeconds(error.retryAfterMs)}.`;
  const isPassing = error.code === "API_ERROR" && error.retryable;
  return isPassing || (error instanceof LimitError && error.code !== "QUOTA_EXCEEDED")
    ? "Try again in a minute."
    : undefined;
}

function inSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds === 0) return "now";
  return seconds === 1 ? "in a second" : `in ${seconds} seconds`;
}
