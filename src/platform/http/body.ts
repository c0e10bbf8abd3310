import type { IncomingMessage } from "node:http";
import {
  BodyBudget,
  BodyError,
  type BodyProblem,
  dropBody,
  readRequestBody,
} from "../../core/body.ts";
import type * as z from "../../core/zod.ts";
import { invalid, PlatformError } from "../error.ts";

/** The largest body of a request, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Bytes of all bodies under way, of requests that anybody can send. Four uploads as JSON fit. */
const bodies = new BodyBudget(32 * 1024 * 1024);

/** How much of a body is read, and for how long. */
export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: () => PlatformError;
  /** By default one that all bodies of the API share. */
  readonly budget?: BodyBudget;
  /** In ms. Default 10,000. */
  readonly timeoutMs?: number;
}

export const usualLimit: BodyLimit = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () =>
    new PlatformError(413, "TOO_LARGE", `A body holds at most ${MAX_BODY_BYTES} bytes.`),
};

/**
 * Reads a JSON body, of up to 1 MB unless told otherwise; undefined when there is none.
 *
 * @param seen is told the bytes, whether they are JSON or not
 */
export async function readJson(
  request: IncomingMessage,
  limit: BodyLimit = usualLimit,
  seen: (bytes: Uint8Array) => void = () => {},
): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  checkHeaders(request);
  const bytes = await readBytes(request, limit);
  seen(bytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("The body is not JSON in UTF-8.");
  }
}

/**
 * Gives a body its type.
 *
 * @throws {PlatformError} 400 VALIDATION, naming each field
 */
export function validate<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw invalid(body === undefined ? "A JSON body is needed." : issues.join("; "));
}

/** True when the request says that its body is JSON. */
export function isJson(request: IncomingMessage): boolean {
  return /^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "");
}

export function hasBody({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > 0;
}

function checkHeaders(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (isJson(request) && encoding === "identity") return;
  dropBody(request);
  throw new PlatformError(
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    "Send Content-Type: application/json, without a Content-Encoding.",
  );
}

/**
 * Reads a body as it came.
 *
 * @throws {PlatformError} 400 VALIDATION, 408 TIMEOUT, 503 BUSY, or what `tooLarge` returns
 */
export async function readBytes(
  request: IncomingMessage,
  { maxBytes, tooLarge, budget = bodies, timeoutMs }: BodyLimit,
): Promise<Uint8Array> {
  try {
    return await readRequestBody(request, { limit: maxBytes, budget, timeoutMs });
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw error.problem === "too_large" ? tooLarge() : refusals[error.problem]();
  }
}

const CLOSE = { Connection: "close" };

const endedEarly = () => invalid("The body ended too early.");

const refusals: Readonly<Record<Exclude<BodyProblem, "too_large">, () => PlatformError>> = {
  incomplete: endedEarly,
  length_mismatch: endedEarly,
  already_read: () => invalid("The body was read before."),
  fragmented: () =>
    new PlatformError(400, "VALIDATION", "The body came in too many small pieces.", CLOSE),
  timeout: () => new PlatformError(408, "TIMEOUT", "The body was not complete in time.", CLOSE),
  busy: () =>
    new PlatformError(503, "BUSY", "Too many bodies are under way.", {
      ...CLOSE,
      "Retry-After": "5",
    }),
};
