import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { hasCode } from "../errors.ts";
import { type Answer, failure } from "./answer.ts";

/** A request as node:http or Express hands it over; body parsers add fields. */
export type BodyRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

export type BodyResult =
  | { readonly ok: true; readonly body: Uint8Array }
  | { readonly ok: false; readonly answer: Answer };

const ALREADY_PARSED =
  "Something has read this body before the webhook middleware, so its signature cannot be checked: " +
  "mount bot.middleware() before express.json() and other body parsers.";

const BROKEN_OFF = "The connection was closed before the body was complete.";

/**
 * Reads the raw bytes of a body, at most `limit` of them. Bytes that somebody kept are as good as the
 * stream: `express.raw()` leaves a Buffer in `body`, some hosts leave one in `rawBody`.
 */
export async function readBody(request: BodyRequest, limit: number): Promise<BodyResult> {
  const kept = [request.body, request.rawBody].find((value) => value instanceof Uint8Array);
  if (kept instanceof Uint8Array)
    return kept.length > limit ? tooLarge(limit) : { ok: true, body: kept };
  if (request.readableDidRead || request.readableEnded) return alreadyParsed();
  try {
    const length = request.headers["content-length"] ?? null;
    return { ok: true, body: await getRawBody(request, { limit, length }) };
  } catch (error) {
    // What is still on its way is read and dropped, so that the sender gets to see the answer.
    request.resume();
    return explain(error, limit);
  }
}

/** The same for a web-standard request, as `bot.handle(request)` gets it. */
export async function readWebBody(request: Request, limit: number): Promise<BodyResult> {
  if (request.bodyUsed) return alreadyParsed();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.length;
      if (length > limit) return tooLarge(limit);
      chunks.push(chunk);
    }
  } catch {
    return incomplete(BROKEN_OFF);
  }
  return { ok: true, body: Buffer.concat(chunks) };
}

function explain(error: unknown, limit: number): BodyResult {
  const type =
    typeof error === "object" && error !== null && "type" in error ? error.type : undefined;
  if (type === "entity.too.large") return tooLarge(limit);
  if (type === "stream.not.readable" || type === "stream.encoding.set") return alreadyParsed();
  const aborted = type === "request.aborted" || hasCode(error, "ECONNRESET");
  return incomplete(aborted ? BROKEN_OFF : "The body is not as long as Content-Length says.");
}

function incomplete(message: string): BodyResult {
  return { ok: false, answer: failure(400, "BODY_INCOMPLETE", message) };
}

function tooLarge(limit: number): BodyResult {
  const answer = failure(413, "BODY_TOO_LARGE", `The body is larger than ${limit} bytes.`, {
    connection: "close",
  });
  return { ok: false, answer };
}

function alreadyParsed(): BodyResult {
  return { ok: false, answer: failure(500, "BODY_ALREADY_PARSED", ALREADY_PARSED) };
}
