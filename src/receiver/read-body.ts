import type { IncomingMessage } from "node:http";
import { BodyError, type BodyProblem } from "../core/body/error.ts";
import { type BodyBounds, readRequestBody, readWebBody } from "../core/body/read.ts";
import { type Answer, failure } from "./answer.ts";

/** A request as node:http or Express hands it over; body parsers add fields. */
export type BodyRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

export type BodyResult =
  | { readonly ok: true; readonly body: Uint8Array }
  | { readonly ok: false; readonly answer: Answer };

const ALREADY_PARSED =
  "Something has read this body before the webhook middleware, so its signature cannot be checked: " +
  "mount bot.middleware() before express.json() and other body parsers.";

/**
 * Reads the raw bytes of a body, at most `limit` of them. Bytes that a body parser kept are as good as the
 * stream: `express.raw()` leaves a Buffer in `body`, some hosts leave one in `rawBody`.
 */
export async function readNodeBody(request: BodyRequest, bounds: BodyBounds): Promise<BodyResult> {
  const kept = [request.body, request.rawBody].find((value) => value instanceof Uint8Array);
  if (kept instanceof Uint8Array) {
    return kept.length > bounds.limit ? refuse("too_large", bounds) : { ok: true, body: kept };
  }
  if (request.readableDidRead || request.readableEnded) return refuse("already_read", bounds);
  return await orRefuse(readRequestBody(request, bounds), bounds);
}

/** The same for a web-standard request, as `bot.handle(request)` gets it. */
export async function readFetchBody(request: Request, bounds: BodyBounds): Promise<BodyResult> {
  if (request.bodyUsed) return refuse("already_read", bounds);
  return await orRefuse(readWebBody(request.body, bounds), bounds);
}

async function orRefuse(reading: Promise<Buffer>, bounds: BodyBounds): Promise<BodyResult> {
  try {
    return { ok: true, body: await reading };
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    return refuse(error.problem, bounds);
  }
}

function refuse(problem: BodyProblem, { limit }: BodyBounds): BodyResult {
  return { ok: false, answer: answers[problem](limit) };
}

const close = { connection: "close" };

/** How long a sender is asked to wait while other bodies take all memory for bodies, in seconds. */
const RETRY_AFTER_SECONDS = 5;

const answers: Readonly<Record<BodyProblem, (limit: number) => Answer>> = {
  // The connection stays open while the rest is dropped: a proxy whose connection is reset answers with 502.
  too_large: (limit) => failure(413, "BODY_TOO_LARGE", `The body is larger than ${limit} bytes.`),
  incomplete: () =>
    failure(400, "BODY_INCOMPLETE", "The connection was closed before the body was complete."),
  length_mismatch: () =>
    failure(400, "BODY_INCOMPLETE", "The body is not as long as Content-Length says."),
  timeout: () => failure(408, "BODY_TIMEOUT", "The body was not complete in time.", close),
  fragmented: () =>
    failure(400, "BODY_FRAGMENTED", "The body came in too many small pieces.", close),
  busy: () =>
    failure(503, "BODIES_BUSY", "Too many bodies are under way.", {
      ...close,
      "retry-after": String(RETRY_AFTER_SECONDS),
    }),
  already_read: () => failure(500, "BODY_ALREADY_PARSED", ALREADY_PARSED),
};
