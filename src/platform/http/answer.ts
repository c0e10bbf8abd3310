import type { Logger } from "../../core/logger.ts";
import { PlatformError } from "../error.ts";

/** An answer before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `null` for an answer without one. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}

/** An answer in text, which the records of calls keep. */
export interface TextAnswer extends Answer {
  readonly body: string;
}

/** Rejects a request that gets no answer, as `fetch` does when a connection is cut. */
export class ConnectionLost extends TypeError {
  constructor() {
    const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    super("fetch failed", { cause });
  }
}

/** @param json the text of the body */
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

/** Makes the answer to a failed request. An error inside the platform is logged and shows nothing of itself. */
export function errorAnswer(error: unknown, logger: Logger): TextAnswer {
  const known = asPlatformError(error);
  if (known === undefined) logger.error({ err: error }, "a request failed inside the platform");
  const { status, code, message, headers } =
    known ?? new PlatformError(500, "INTERNAL", "The local platform has failed; see its log.");
  return jsonAnswer(status, JSON.stringify({ error: { code, message } }), headers);
}

function asPlatformError(error: unknown): PlatformError | undefined {
  if (error instanceof PlatformError) return error;
  // `decodeURIComponent` throws this for a malformed path.
  if (error instanceof URIError) {
    return new PlatformError(400, "VALIDATION", "The path is malformed.");
  }
  return undefined;
}

/** Completes an answer with the headers that every answer has. A HEAD request gets no body. */
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
    // A fault may choose 304, which has no body.
    body: method === "HEAD" || status === 304 ? null : body,
  };
}

function lengthOf(body: Answer["body"]): number | undefined {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : undefined;
}

export function toResponse({ status, headers, body }: Answer): Response {
  // The copy detaches the bytes from memory that may be shared.
  const own = body instanceof Uint8Array ? new Uint8Array(body) : body;
  return new Response(own, { status, headers });
}
