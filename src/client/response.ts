import { readUpTo } from "../core/bounded-read.ts";
import { parseJson } from "../core/json.ts";
import { isTooComplex } from "../core/json-bounds.ts";
import { scrubber } from "../core/safe-text.ts";
import { decodeUtf8 } from "../core/utf8.ts";
import { ServiceBotError } from "../errors.ts";
import { BodyUnreadable, decodeContent, tooLong } from "./content-coding.ts";
import { type ApiError, apiErrorOf, platformCodes } from "./errors.ts";
import type { ApiRequest } from "./request.ts";
import type { ApiResponse } from "./transport.ts";

/** Maximum size of a response, in bytes. No response is larger, because a page has at most 50 items. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Maximum size of an error body, in bytes. It is generous, because a truncated body would lose its error code. */
const MAX_ERROR_BYTES = 2 * 1024 * 1024;

/** Longest accepted `Retry-After`, in ms. A longer wait is probably a mistake, and must not stop a lane for years. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Maximum length of the platform's message in an error, in characters. */
const MAX_MESSAGE = 2_000;

/**
 * Reads a response body. Returns `undefined` if it is empty. Some platforms and proxies report a failure with a 2xx
 * status. Such a body counts as a failure only if it has no other fields, because the responses to some writes are not
 * documented.
 *
 * @param now time of the response on the platform's clock, in ms since 1970
 * @throws {ApiError} if the status is not 2xx, or the body reports a failure
 * @throws {ServiceBotError} API_INVALID_RESPONSE
 */
export async function readAnswer(
  response: ApiResponse,
  request: ApiRequest,
  now: number,
): Promise<unknown> {
  if (response.status >= 200 && response.status < 300) {
    const body = await readJson(response, request.name);
    if (!isFailureAlone(body)) return body;
    throw toError(body, response, request, now);
  }
  // The status is still useful if the body is unreadable.
  const body = await readBody(response, MAX_ERROR_BYTES).catch(() => Buffer.alloc(0));
  throw toError(parseOrText(decodeUtf8(body)), response, request, now);
}

async function readJson(response: ApiResponse, request: string): Promise<unknown> {
  const type = response.headers.get("content-type");
  const bytes = await readBody(response, MAX_ANSWER_BYTES).catch((error: unknown) => {
    if (!(error instanceof BodyUnreadable)) throw error;
    throw invalid(request, `the response ${error.message}.`);
  });
  const text = decodeUtf8(bytes);
  if (text === "") return undefined;
  if (mayBeJson(type)) {
    if (isTooComplex(bytes)) {
      throw invalid(request, "the response has too many values for its size.");
    }
    try {
      return parseJson(text);
    } catch {
      // Drop the parser's message, because it quotes the response.
    }
  }
  const what = /^\s*</.test(text)
    ? "a web page instead of JSON"
    : `not JSON (${describeType(response)})`;
  const origin = "Check SERVICE_BASE_URL.";
  throw invalid(request, `the response (${response.status}) is ${what}. ${origin}`);
}

function toError(body: unknown, response: ApiResponse, request: ApiRequest, now: number): ApiError {
  const scrub = scrubber(request.secrets);
  const { code, message } = readErrorBody(body);
  const requestId = requestIdOf(response, body, scrub);
  const said = [code, message].filter((part) => part !== undefined).join(": ");
  const shown = scrub(said).slice(0, MAX_MESSAGE).replace(/\.$/, "");
  const details = shown === "" ? "" : ` (${shown})`;
  const id = requestId === undefined ? "" : ` Request id: ${requestId}.`;
  return apiErrorOf(
    `${request.name}: the platform returned ${response.status}${details}.${remedyFor(response, code)}${id}`,
    {
      status: response.status,
      // A text with redacted parts is not a code.
      platformCode: code === undefined || !isCode(scrub(code)) ? undefined : code,
      retryAfterMs: retryAfterMs(response, now),
      hasErrorBody: typeof body === "object" && said !== "",
      requestId,
    },
  );
}

interface ErrorBody {
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/**
 * Reads an error body. The platform document does not show its shape, so this function tries the common ones: `{error:
 * {code, message}}`, `{error: "CODE", message}`, `{error: "words"}`, `{code, message}`, `{errors: [{code, message}]}`,
 * and text.
 */
function readErrorBody(body: unknown): ErrorBody {
  if (typeof body === "string") return readErrorText(body.trim());
  const outer = fieldsOf(body);
  const error = textOf(outer.error);
  const first: unknown = Array.isArray(outer.errors) ? outer.errors[0] : undefined;
  const inner = error === undefined ? fieldsOf(outer.error ?? first) : {};
  const words = error === undefined || isCode(error) ? undefined : error;
  return {
    code: codeOf(inner.code) ?? codeOf(error) ?? codeOf(outer.code),
    message: textOf(inner.message) ?? textOf(outer.message) ?? words,
  };
}

/** Reads an error in text form: a code, or a sentence that may begin with a code. A web page has neither. */
function readErrorText(body: string): ErrorBody {
  if (body.startsWith("<")) return { code: undefined, message: undefined };
  const word = /^[A-Z][A-Z_]+(?=$|[\s:])/.exec(body)?.[0];
  const code = platformCodes.find((known) => known === word);
  return { code, message: body === "" || body === code ? undefined : body };
}

const failureFields: ReadonlySet<string> = new Set([
  ...["error", "message", "code", "status", "statusCode", "ok", "success"],
  ...["requestId", "request_id"],
]);

function isFailureAlone(body: unknown): boolean {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return false;
  for (const name in body) if (!failureFields.has(name)) return false;
  const { ok, success, error } = fieldsOf(body);
  if (ok === true || success === true) return false;
  if (ok === false || success === false || textOf(error) !== undefined) return true;
  const { code, message } = readErrorBody(body);
  const isKnown = platformCodes.some((known) => known === code);
  return (
    isKnown || (typeof error === "object" && error !== null && (code ?? message) !== undefined)
  );
}

/** Common headers for a request id. The platform document does not show which one the platform sends. */
const requestIdHeaders = ["x-request-id", "request-id", "x-correlation-id"] as const;

function requestIdOf(
  response: ApiResponse,
  body: unknown,
  scrub: (text: string) => string,
): string | undefined {
  const inHeaders = requestIdHeaders.map((name) => response.headers.get(name));
  const { requestId, request_id } = fieldsOf(body);
  const found = [...inHeaders, requestId, request_id].find((value) => textOf(value) !== undefined);
  const id = scrub(String(found ?? ""));
  // The id is logged, so it must be a single word without redacted text.
  return /^[\w.:/+=~-]{1,200}$/.test(id) ? id : undefined;
}

/** Remedies for platform codes whose name does not suggest one. */
const remedies: Readonly<Partial<Record<string, string>>> = {
  AGENT_SCOPE_MISSING: "Check the token's scopes in the developer portal.",
  INVALID_IMAGE_KEY:
    "An image key works only once, within an hour, and only for the app that uploaded the image. Upload the image again.",
  QUOTA_EXCEEDED: "The daily quota is used up. It resets the next day.",
  NOT_CONFIGURED: "The platform has no upload storage. Ask its operator to set it up.",
  NOT_FOUND: "The object does not exist, or the bot has no access to it.",
};

function remedyFor({ status }: ApiResponse, code = ""): string {
  if (status >= 300 && status < 400) {
    return " The client does not follow redirects. Set SERVICE_BASE_URL (baseUrl) to the final URL.";
  }
  const known = remedies[code];
  if (known !== undefined) return ` ${known}`;
  if (status === 401) return " Check SERVICE_API_KEY (apiKey).";
  if (status === 403 && code !== "BLOCKED") {
    return " Check in the developer portal that the token has the required scopes and that the app is enabled.";
  }
  return "";
}

/** Reads `Retry-After`, in ms. The header contains whole seconds, or a date on the platform's clock. */
function retryAfterMs(response: ApiResponse, now: number): number | undefined {
  const value = response.headers.get("retry-after");
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
  // Dates begin with the day of the week. Without this check, "1.5" would parse as the fifth of January.
  const date = /^[A-Z][a-z]{2,8}[, ]/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(date)) return undefined;
  return Math.min(Math.max(0, date - now), MAX_RETRY_AFTER_MS);
}

/** Returns whether a body may be JSON. If the type is missing or `text/plain`, the text decides. */
function mayBeJson(contentType: string | null): boolean {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "" || type === "text/plain" || /^\w+\/([\w.-]+\+)?json$/.test(type);
}

/** Describes a body that is not JSON by its headers. */
function describeType({ headers }: ApiResponse): string {
  const type = headers.get("content-type")?.slice(0, 100) ?? "without a content type";
  const coding = headers.get("content-encoding");
  return coding === null ? type : `${type}, Content-Encoding: ${coding.slice(0, 50)}`;
}

/**
 * Reads and decodes a body. If the body is too long, cancels it and closes its connection.
 *
 * @throws {BodyUnreadable}
 */
async function readBody({ body, coding = "" }: ApiResponse, maxBytes: number): Promise<Buffer> {
  const bytes = await readUpTo(body, maxBytes);
  if (bytes === undefined) throw tooLong(maxBytes);
  return await decodeContent(bytes, coding, maxBytes);
}

function parseOrText(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return body;
  }
}

/** Returns whether a text is a single word. A sentence is a message, not a code. */
function isCode(value: string): boolean {
  return /^[A-Za-z][\w.:-]{0,63}$/.test(value);
}

function codeOf(value: unknown): string | undefined {
  const found = textOf(value);
  return found !== undefined && isCode(found) ? found : undefined;
}

/** Returns an object's fields without copying them, because the body may be large. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(request: string, what: string): ServiceBotError {
  return new ServiceBotError("API_INVALID_RESPONSE", `${request}: ${what}`);
}
