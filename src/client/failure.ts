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

/** An answer that is 2xx and says in its body that it is a failure, as some platforms and proxies do. */
export function failureIn(
  body: unknown,
  response: Response,
  request: string,
  options: FailureOptions,
): ApiError | undefined {
  const { error, ...others } = fields(body);
  const isFailure = text(error) !== undefined || describe({ error }).code !== undefined;
  const hasResult = results.some((name) => name in others);
  return isFailure && !hasResult ? failureOf(body, response, request, options) : undefined;
}

/** Fields that only answers with a result have. */
const results = ["id", "items", "events", "key", "username"] as const;

function failureOf(
  body: unknown,
  response: Response,
  request: string,
  { now, scrub }: FailureOptions,
): ApiError {
  const { code, message } = describe(body);
  const requestId = requestIdOf(response, body);
  const said = [code, message].filter((part) => part !== undefined).join(": ");
  const what = scrub(said).slice(0, MAX_CHARACTERS);
  const details = what === "" ? "" : ` (${what})`;
  const id = requestId === undefined ? "" : ` Request id: ${requestId}.`;
  return apiErrorOf(
    `${request}: the platform answered ${response.status}${details}.${remedy(response)}${id}`,
    {
      status: response.status,
      platformCode: code,
      retryAfterMs: retryAfter(response, now),
      requestId,
    },
  );
}

/** Where platforms put it; whether this one does is not shown. */
const requestIdHeaders = ["x-request-id", "request-id", "x-correlation-id"] as const;

function requestIdOf(response: Response, body: unknown): string | undefined {
  const inHeaders = requestIdHeaders.map((name) => response.headers.get(name));
  const { requestId, request_id } = fields(body);
  const found = [...inHeaders, requestId, request_id].find((value) => text(value) !== undefined);
  // It goes into logs: a word, and no more.
  return /^[\x21-\x7e]{1,200}$/.test(String(found ?? "")) ? String(found) : undefined;
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
  // {error: {code, message}}, {error: "CODE", message} and {code, message} are all common.
  const inner = typeof outer.error === "string" ? { code: outer.error } : fields(outer.error);
  return {
    code: text(inner.code) ?? text(outer.code),
    message: text(inner.message) ?? text(outer.message),
  };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
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
