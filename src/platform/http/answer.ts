import type { Logger } from "../../core/logger.ts";
import { PlatformError } from "../error.ts";

/** A response to send. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}

/** A response with a text body, which the call records keep. */
export interface TextAnswer extends Answer {
  readonly body: string;
}

/** Thrown for a request that gets no response. Looks like the error from a `fetch` whose connection was closed. */
export class ConnectionLost extends TypeError {
  constructor() {
    const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    super("fetch failed", { cause });
  }
}

export function jsonAnswer(
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): TextAnswer {
  return {
    status,
    headers: { ...headers, "content-type": "application/json; charset=utf-8" },
    body: json,
  };
}

/** Returns the response to a failed request. Logs internal errors without revealing details in the response. */
export function errorAnswer(error: unknown, logger: Logger): TextAnswer {
  const known = asPlatformError(error);
  if (known === undefined) logger.error({ err: error }, "a request failed inside the platform");
  const { status, code, message, headers } =
    known ?? new PlatformError(500, "INTERNAL", "The local platform failed. Read its log.");
  return jsonAnswer(status, JSON.stringify({ error: { code, message } }), headers);
}

function asPlatformError(error: unknown): PlatformError | undefined {
  if (error instanceof PlatformError) return error;
  // `decodeURIComponent` throws a URIError for a malformed path.
  if (error instanceof URIError) {
    return new PlatformError(400, "VALIDATION", "The path is malformed.");
  }
  return undefined;
}

/** Adds the headers common to all responses, and removes the body of a response to HEAD. */
export function completeAnswer(
  { status, headers, body }: Answer,
  method: string,
  now: number,
): Answer {
  const length = lengthOf(body);
  return {
    status,
    headers: {
      ...headers,
      ...(length !== undefined && status !== 304 && { "content-length": String(length) }),
      // Bots measure the age of events on the platform's clock.
      date: new Date(now).toUTCString(),
      "x-content-type-options": "nosniff",
    },
    // A fault may use the status 304, which does not allow a body.
    body: method === "HEAD" || status === 304 ? null : body,
  };
}

function lengthOf(body: Answer["body"]): number | undefined {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : undefined;
}

export function toResponse({ status, headers, body }: Answer): Response {
  // Copy the bytes, because a Response rejects bytes in shared memory.
  const own = body instanceof Uint8Array ? new Uint8Array(body) : body;
  return new Response(own, { status, headers });
}
