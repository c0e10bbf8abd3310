import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import type { BodyBudget, BodyBuffer } from "./budget.ts";
import { BodyError, type BodyProblem } from "./error.ts";

/** In ms. A sender on a slow line brings a large delivery in a few seconds. */
export const BODY_TIMEOUT_MS = 10_000;

/** In ms. How long a refused body is still read, so that its sender gets to see the answer. */
const DROP_TIMEOUT_MS = 5_000;

/** Pieces of a refused body that are dropped. 16 MiB in TCP segments are 12,000 pieces. */
const MAX_DROPPED_PIECES = 16_384;

/** The bounds of one body. */
export interface BodyBounds {
  /** The largest body, in bytes. */
  readonly limit: number;
  /** Shared by all bodies of a server. */
  readonly budget: BodyBudget;
  /** From the call to the last byte, in ms. Default {@link BODY_TIMEOUT_MS}. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Reads the raw bytes of a body within bounds. Memory follows the bytes, not the pieces they come in. Reading begins
 * before the call returns: a request that waits unread keeps each piece by itself.
 *
 * @throws {BodyError} The rest of the body is dropped, or the connection is closed.
 */
export async function readRequestBody(
  request: IncomingMessage,
  bounds: BodyBounds,
): Promise<Buffer> {
  return (await receiveRequestBody(request, bounds)).take();
}

/**
 * Reads a body as {@link readRequestBody} does, and leaves it in the budget, where other bodies may still displace it.
 * The caller ends it with {@link BodyBuffer.take} or {@link BodyBuffer.release}.
 *
 * @throws {BodyError} The rest of the body is dropped, or the connection is closed.
 */
export async function receiveRequestBody(
  request: IncomingMessage,
  bounds: BodyBounds,
): Promise<BodyBuffer> {
  try {
    return await receive(bounds, (decoder) => {
      const length = request.headers["content-length"] ?? null;
      const reading = getRawBody(request, {
        limit: bounds.limit,
        length,
        encoding: "raw",
        decoder,
      });
      // Ends the stream's first, buffering state: pieces go straight to the decoder from here on.
      if (request.readableFlowing === true) request.read(0);
      return reading;
    });
  } catch (error) {
    dropBody(request);
    throw error;
  }
}

/**
 * Reads a web-standard body as {@link readRequestBody} does; `null` is an empty one.
 *
 * @throws {BodyError} The rest of the body is cancelled, so its source stops.
 */
export async function readWebBody(
  stream: ReadableStream<Uint8Array> | null,
  bounds: BodyBounds,
): Promise<Buffer> {
  return (await receiveWebBody(stream, bounds)).take();
}

/**
 * Reads a web-standard body as {@link receiveRequestBody} does.
 *
 * @throws {BodyError} The rest of the body is cancelled, so its source stops.
 */
export async function receiveWebBody(
  stream: ReadableStream<Uint8Array> | null,
  bounds: BodyBounds,
): Promise<BodyBuffer> {
  if (stream === null) return bounds.budget.open();
  if (stream.locked) throw new BodyError("already_read");
  const reader = stream.getReader();
  try {
    return await receive(bounds, (decoder) => copyPieces(reader, decoder(), bounds.limit));
  } catch (error) {
    // A cancelled source may take its time, or fail. The answer does not depend on it.
    reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

async function copyPieces(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  buffer: BodyBuffer,
  limit: number,
): Promise<void> {
  let received = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    // A stream of the caller's own may hold text that something has decoded.
    if (!(value instanceof Uint8Array)) throw new BodyError("already_read");
    received += value.length;
    if (received > limit) throw new BodyError("too_large");
    buffer.write(value);
  }
}

/**
 * Reads a body that was refused and drops it, so that its sender gets to see the answer. Closes the connection where
 * the body goes on for seconds, or in tiny pieces.
 */
export function dropBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  let pieces = 0;
  const timer = setTimeout(() => socket.destroy(), DROP_TIMEOUT_MS);
  timer.unref();
  request.on("data", () => {
    pieces += 1;
    if (pieces > MAX_DROPPED_PIECES) socket.destroy();
  });
  request.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  request.resume();
}

type Decoder = () => BodyBuffer;

/** raw-body checks the limit, the length and the end; the bytes go into a buffer of the budget. */
async function receive(
  { budget, timeoutMs = BODY_TIMEOUT_MS }: BodyBounds,
  read: (decoder: Decoder) => Promise<unknown>,
): Promise<BodyBuffer> {
  const buffer = budget.open();
  const timer = setTimeout(() => buffer.giveUp("timeout"), timeoutMs);
  try {
    await Promise.race([read(() => buffer), buffer.givenUp]);
    return buffer;
  } catch (error) {
    buffer.release();
    throw error instanceof BodyError ? error : new BodyError(problemOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const problems: Readonly<Record<string, BodyProblem>> = {
  "entity.too.large": "too_large",
  "request.size.invalid": "length_mismatch",
  "stream.not.readable": "already_read",
  "stream.encoding.set": "already_read",
};

function problemOf(error: unknown): BodyProblem {
  const { type }: { type?: unknown } = Object(error);
  const problem = typeof type === "string" ? problems[type] : undefined;
  return problem ?? "incomplete";
}
