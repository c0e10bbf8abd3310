import { readErrorText } from "./body.ts";
import { fields, isCode, isFailureAlone, saidIn, text } from "./error-body.ts";
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
  return isFailureAlone(body) ? failureOf(body, response, request, options) : undefined;
}

function failureOf(
  body: unknown,
  response: Response,
  request: string,
  { now, scrub }: FailureOptions,
): ApiError {
  const { code, message } = saidIn(body);
  const requestId = requestIdOf(response, body, scrub);
  const said = [code, message].filter((part) => part !== undefined).join(": ");
  const what = scrub(said).slice(0, MAX_CHARACTERS).replace(/\.$/, "");
  const details = what === "" ? "" : ` (${what})`;
  const id = requestId === undefined ? "" : ` Request id: ${requestId}.`;
  return apiErrorOf(
    `${request}: the platform answered ${response.status}${details}.${remedy(response, code)}${id}`,
    {
      status: response.status,
      // Redacted, it is no code any more.
      platformCode: code === undefined || !isCode(scrub(code)) ? undefined : code,
      retryAfterMs: retryAfter(response, now),
      hasErrorBody: typeof body === "object" && said !== "",
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

/** Error bodies that are no JSON are words. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** What can be done about a code of section 7, where its name does not say it. */
const remedies: Readonly<Partial<Record<string, string>>> = {
  AGENT_SCOPE_MISSING: "Check the scopes of the token in the developer portal.",
  INVALID_IMAGE_KEY:
    "A key is good for one use, for an hour, and for the app that uploaded: upload again.",
  QUOTA_EXCEEDED: "A daily quota is used up; the platform gives a new one the next day.",
  NOT_CONFIGURED: "The platform has no storage for uploads, which its owner must set up.",
  NOT_FOUND: "There is no such thing, or the bot has no part in it.",
};

function remedy({ status }: Response, code = ""): string {
  if (status >= 300 && status < 400) {
    return " Redirects are not followed, so that the token stays where it belongs: set SERVICE_BASE_URL (baseUrl) to the final address.";
  }
  const known = remedies[code];
  if (known !== undefined) return ` ${known}`;
  if (status === 401) return " Check SERVICE_API_KEY (apiKey).";
  if (status === 403 && code !== "BLOCKED") {
    return " Check the scopes of the token, and whether the app is enabled, in the developer portal.";
  }
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
