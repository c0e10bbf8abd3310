import type { Logger } from "../../core/logger.ts";
import { PlatformError } from "../error.ts";

/** An answer in JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer in bytes, as the records of calls keep it. */
export interface WrittenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Rejects a request that gets no answer, as `fetch` does when a connection is cut. */
export class ConnectionLost extends TypeError {
  constructor() {
    const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    super("fetch failed", { cause });
  }
}

export function written({ status, body, headers = {} }: Answer): WrittenAnswer {
  const type = { "content-type": "application/json; charset=utf-8" };
  return { status, headers: { ...headers, ...type }, bytes: Buffer.from(JSON.stringify(body)) };
}

export function toResponse({ status, headers, bytes }: WrittenAnswer): Response {
  // A fault may choose 304, which has no body.
  if (status === 304) return new Response(null, { status, headers });
  const all = { ...headers, "content-length": String(bytes.byteLength) };
  return new Response(bytes, { status, headers: all });
}

/** Returns a file, whose bytes may be anything. */
export function fileResponse(
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
): Response {
  const all = { ...headers, "content-length": String(bytes.byteLength) };
  return new Response(new Uint8Array(bytes), { headers: all });
}

/** Makes the answer to a failed request. An error inside the platform is logged and shows nothing of itself. */
export function errorAnswer(error: unknown, logger: Logger): Answer {
  const known = asPlatformError(error);
  if (known === undefined) logger.error({ err: error }, "a request failed inside the platform");
  const { status, code, message, headers } =
    known ?? new PlatformError(500, "INTERNAL", "The local platform has failed; see its log.");
  return { status, headers, body: { error: { code, message } } };
}

function asPlatformError(error: unknown): PlatformError | undefined {
  if (error instanceof PlatformError) return error;
  // `decodeURIComponent` throws this for a malformed path.
  if (error instanceof URIError) {
    return new PlatformError(400, "VALIDATION", "The path is malformed.");
  }
  return undefined;
}
