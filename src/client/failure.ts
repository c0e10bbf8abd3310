import { readErrorText } from "./body.ts";
import { type ApiError, apiErrorOf } from "./errors.ts";

/** Nobody means to be waited for longer than this, in milliseconds: a slip must not stop a lane for years. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Of what the platform says about an error, this many characters are passed on. */
const MAX_CHARACTERS = 2_000;

interface FailureOptions {
  /** The platform's clock when it answered, in milliseconds since 1970. */
  readonly now: number;
  /** Takes out of the platform's words what no error may show. */
  readonly scrub: (text: string) => string;
}

/**
 * Makes a typed error of an answer that is not 2xx. The shape of error bodies is not documented
 * (section 7), so the code is looked for in the places where APIs keep it.
 */
export async function readFailure(
  response: Response,
  request: string,
  options: FailureOptions,
): Promise<ApiError> {
  return failureOf(parse(await readErrorText(response)), response, request, options);
}

/**
 * An answer that is 2xx and says in its body that it is a failure, as some platforms and proxies do. Only one
 * that says nothing else is taken for that: what the answers to some writes hold is not shown.
 */
export function failureIn(
  body: unknown,
  response: Response,
  request: string,
  options: FailureOptions,
): ApiError | undefined {
  if (typeof body !== "object" || body === null || !("error" in body)) return undefined;
  for (const name in body) if (!ofFailures.has(name)) return undefined;
  const { error } = body;
  const isFailure = typeof error === "string" ? isCode(error) : describe({ error }).code;
  return isFailure ? failureOf(body, response, request, options) : undefined;
}

/** What a body has that tells of a failure alone. */
const ofFailures: ReadonlySet<string> = new Set([
  ...["error", "message", "code", "status", "statusCode", "ok", "success"],
  ...["requestId", "request_id"],
]);

function failureOf(
  body: unknown,
  response: Response,
  request: string,
  { now, scrub }: FailureOptions,
): ApiError {
  const { code, message } = describe(body);
  const requestId = requestIdOf(response, body, scrub);
  const said = [code, message].filter((part) => part !== undefined).join(": ");
  const what = scrub(said).slice(0, MAX_CHARACTERS);
  const details = what === "" ? "" : ` (${what})`;
  const id = requestId === undefined ? "" : ` Request id: ${requestId}.`;
  return apiErrorOf(
    `${request}: the platform answered ${response.status}${details}.${remedy(response)}${id}`,
    {
      status: response.status,
      // Redacted, it is no code any more.
      platformCode: code === undefined || !isCode(scrub(code)) ? undefined : code,
      retryAfterMs: retryAfter(response, now),
      requestId,
    },
  );
}

/** Where platforms put it; whether this one does is not shown. */
const requestIdHeaders = ["x-request-id", "request-id", "x-correlation-id"] as const;

function requestIdOf(
  response: Response,
  body: unknown,
  scrub: FailureOptions["scrub"],
): string | undefined {
  const inHeaders = requestIdHeaders.map((name) => response.headers.get(name));
  const { requestId, request_id } = fields(body);
  const found = [...inHeaders, requestId, request_id].find((value) => text(value) !== undefined);
  const id = scrub(String(found ?? ""));
  // It goes into logs: a word without anything redacted, and no more.
  return /^[\w.:/+=~-]{1,200}$/.test(id) ? id : undefined;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function describe(body: unknown): { code: string | undefined; message: string | undefined } {
  const outer = fields(body);
  // {error: {code, message}}, {error: "CODE", message}, {error: "words"} and {code, message} are all common.
  const error = text(outer.error);
  const inner = error === undefined ? fields(outer.error) : {};
  const words = error === undefined || isCode(error) ? undefined : error;
  return {
    code: codeIn(inner.code) ?? codeIn(error) ?? codeIn(outer.code),
    message: text(inner.message) ?? text(outer.message) ?? words,
  };
}

/** A code is a word; a sentence in its place is a message. */
function isCode(value: string): boolean {
  return /^[A-Za-z][\w.:-]{0,63}$/.test(value);
}

function codeIn(value: unknown): string | undefined {
  const found = text(value);
  return found !== undefined && isCode(found) ? found : undefined;
}

/** The fields of an object, as they are: the body may be large, and is not copied. */
function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function remedy(response: Response): string {
  const { status } = response;
  if (status >= 300 && status < 400) {
    return " Redirects are not followed, so that the token stays where it belongs: set SERVICE_BASE_URL to the final address.";
  }
  if (status === 401) return " Check SERVICE_API_KEY.";
  if (status === 403) return " Check the scopes of the token in the developer portal.";
  return "";
}

/**
 * `Retry-After` in milliseconds, one hour at most: it holds either whole seconds or a date by the
 * platform's clock.
 */
function retryAfter(response: Response, now: number): number | undefined {
  const asked = readRetryAfter(response.headers.get("retry-after"), now);
  return asked === undefined ? undefined : Math.min(asked, LONGEST_RETRY_AFTER_MS);
}

function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // Dates begin with the day of the week; without that, "1.5" would be the fifth of January.
  const date = /^[A-Z][a-z]{2,8}[, ]/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
