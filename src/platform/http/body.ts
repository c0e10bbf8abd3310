import type * as z from "zod";
import { readWebBody } from "../../core/body.ts";
import { BodyBudget, BodyError, type BodyProblem } from "../../core/body-budget.ts";
import { isTooComplex } from "../../core/json-bounds.ts";
import { tryRead } from "../../errors.ts";
import { invalid, PlatformError } from "../error.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** In bytes, for all bodies being read on public endpoints. Four JSON uploads fit. */
const bodies = new BodyBudget(32 * 1024 * 1024);

export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: () => PlatformError;
  /** Default: the budget shared by all API bodies. */
  readonly budget?: BodyBudget;
  /** Timeout in ms. Default 10,000. */
  readonly timeoutMs?: number;
}

export const usualLimit: BodyLimit = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () =>
    new PlatformError(413, "TOO_LARGE", `The body is larger than ${MAX_BODY_BYTES} bytes.`),
};

/**
 * Reads a JSON body of at most 1 MB by default. Returns `undefined` if there is no body.
 *
 * @param onBytes called with the bytes, even if they are not JSON
 */
export async function readJson(
  request: Request,
  limit: BodyLimit = usualLimit,
  onBytes: (bytes: Buffer) => void = () => {},
): Promise<unknown> {
  if (request.body === null) return undefined;
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (!isJson(request) || encoding !== "identity") {
    cancelBody(request);
    throw new PlatformError(
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      "Send Content-Type: application/json, without a Content-Encoding.",
    );
  }
  const bytes = await readBytes(request, limit);
  onBytes(bytes);
  if (isTooComplex(bytes)) {
    throw new PlatformError(413, "TOO_LARGE", "The body has too many values for its size.");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("The body is not JSON in UTF-8.");
  }
}

/** The schemas of a class's parameters by method, except parameters that are plain texts. */
export type Schemas<T> = {
  readonly [M in keyof T]?: Readonly<Record<string, z.ZodType>>;
};

/**
 * Validates a body against a schema.
 *
 * @param name names an argument of a call in process
 * @throws {PlatformError} 400 VALIDATION, naming each invalid field
 */
export function validate<T>(schema: z.ZodType<T>, body: unknown, name?: string): T {
  const result = tryRead(() => {
    const parsed = schema.safeParse(body);
    return parsed.success ? parsed : { issues: parsed.error.issues };
  });
  // A getter in an argument may throw.
  if (result === undefined) throw invalid(`${name ?? "body"}: cannot be read`);
  if ("data" in result) return result.data;
  if (body === undefined && name === undefined) throw invalid("A JSON body is required.");
  const issues = result.issues.map(({ path, message }) => {
    const place = name === undefined ? path : [name, ...path];
    return place.length === 0 ? message : `${place.map(String).join(".")}: ${message}`;
  });
  throw invalid(issues.join("; "));
}

export function isJson({ headers }: Request): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

/** Cancels an unread body, so that the sender can receive the response. */
export function cancelBody({ body }: Request): void {
  if (body !== null && !body.locked) body.cancel().catch(() => {});
}

/** @throws {PlatformError} 400 VALIDATION, 408 TIMEOUT, 503 BUSY, or the error from `tooLarge` */
export async function readBytes(
  request: Request,
  { maxBytes, tooLarge, budget = bodies, timeoutMs }: BodyLimit,
): Promise<Buffer> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) {
    cancelBody(request);
    throw tooLarge();
  }
  try {
    return await readWebBody(request.body, { limit: maxBytes, budget, timeoutMs });
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw error.problem === "too_large" ? tooLarge() : refusals[error.problem]();
  }
}

const CLOSE = { Connection: "close" };

const endedEarly = () => invalid("The body is incomplete: it ended before its declared length.");

const refusals: Readonly<Record<Exclude<BodyProblem, "too_large">, () => PlatformError>> = {
  incomplete: endedEarly,
  length_mismatch: endedEarly,
  already_read: () => invalid("The body was already read."),
  fragmented: () =>
    new PlatformError(400, "VALIDATION", "The body arrived in too many small chunks.", CLOSE),
  timeout: () => new PlatformError(408, "TIMEOUT", "The body did not arrive in time.", CLOSE),
  busy: () =>
    new PlatformError(503, "BUSY", "The platform is reading too many bodies. Try again later.", {
      ...CLOSE,
      "Retry-After": "5",
    }),
};
