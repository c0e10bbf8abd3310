import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import type * as z from "../../core/zod.ts";
import { hasCode } from "../../errors.ts";
import { invalid, PlatformError } from "../error.ts";

/** The largest body of a request, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/** How much of a body is read. */
export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: () => PlatformError;
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
  throw new PlatformError(
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    "Send Content-Type: application/json, without a Content-Encoding.",
  );
}

/** Reads a body as it came. */
export async function readBytes(
  request: IncomingMessage,
  { maxBytes, tooLarge }: BodyLimit,
): Promise<Uint8Array> {
  try {
    return await getRawBody(request, {
      limit: maxBytes,
      length: request.headers["content-length"] ?? null,
    });
  } catch (error) {
    // Lets the rest pass by, so that the client gets to read the answer.
    request.resume();
    if (hasStatus(error, 413)) throw tooLarge();
    if (hasCode(error, "ECONNABORTED")) throw invalid("The body ended too early.");
    throw error;
  }
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Error && "status" in error && error.status === status;
}
