import { ApiError } from "../errors.ts";

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
  { now, scrub }: FailureOptions,
): Promise<ApiError> {
  const { code, message } = describe(await response.text().catch(() => ""));
  const said = [code, message].filter((part) => part !== undefined).join(": ");
  const what = scrub(said).slice(0, MAX_CHARACTERS);
  const details = what === "" ? "" : ` (${what})`;
  return new ApiError(
    `${request}: the platform answered ${response.status}${details}.${remedy(response)}`,
    {
      status: response.status,
      platformCode: code,
      retryAfterMs: retryAfter(response, now),
    },
  );
}

function describe(body: string): { code: string | undefined; message: string | undefined } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { code: undefined, message: undefined };
  }
  const outer = fields(parsed);
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
