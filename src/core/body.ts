import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { type BodyBudget, type BodyBuffer, BodyError, type BodyProblem } from "./body-budget.ts";

/** Time limit for a body, in ms. Even on a slow connection, a large delivery arrives within a few seconds. */
const BODY_TIMEOUT_MS = 10_000;

/** How long the server keeps reading a rejected body, in ms, so that the sender can receive the response. */
const DROP_TIMEOUT_MS = 5_000;

/** Maximum number of chunks to discard from a rejected body. A body of 16 MiB arrives in about 12,000 TCP segments. */
const MAX_DROPPED_PIECES = 16_384;

export interface BodyBounds {
  /** Maximum size, in bytes. */
  readonly limit: number;
  readonly budget: BodyBudget;
  /** Time limit for reading the whole body, in ms. Default {@link BODY_TIMEOUT_MS}. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Reads a request's raw body within bounds. Memory use depends on the number of bytes, not on the number of chunks.
 * Reading starts synchronously, because a request that is not being read buffers each chunk separately.
 *
 * @throws {BodyError} and discards the rest of the body, or closes the connection
 */
export function readRequestBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const length = request.headers["content-length"] ?? null;
  const reading = receive(bounds, Number(length), (buffer) => {
    const raw = getRawBody(request, {
      limit: bounds.limit,
      length,
      encoding: "raw",
      decoder: () => buffer,
    });
    // End the stream's initial buffering, so that chunks go straight to the decoder.
    if (request.readableFlowing === true) request.read(0);
    return raw;
  });
  return reading.then(takeBody, (error: unknown) => {
    dropBody(request);
    throw error;
  });
}

const takeBody = (body: BodyBuffer) => body.take();

/**
 * Reads a web-standard body like {@link readRequestBody}. `null` means an empty body.
 *
 * @throws {BodyError} and cancels the stream
 */
export async function readWebBody(
  stream: ReadableStream<Uint8Array> | null,
  bounds: BodyBounds,
): Promise<Buffer> {
  return (await receiveWebBody(stream, bounds)).take();
}

/**
 * Reads a web-standard body like {@link readWebBody}, but leaves its bytes in the budget, where other bodies may still
 * displace them. The caller must then call {@link BodyBuffer.take} or {@link BodyBuffer.release}.
 *
 * @throws {BodyError} and cancels the stream
 */
export async function receiveWebBody(
  stream: ReadableStream<Uint8Array> | null,
  bounds: BodyBounds,
): Promise<BodyBuffer> {
  if (stream === null) return bounds.budget.open();
  if (stream.locked) throw new BodyError("already_read");
  const reader = stream.getReader();
  try {
    return await receive(bounds, 0, (buffer) => copyPieces(reader, buffer, bounds.limit));
  } catch (error) {
    // Cancelling may be slow or fail, and the response does not depend on it.
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
    // A stream created by the application may contain strings.
    if (!(value instanceof Uint8Array)) throw new BodyError("already_read");
    received += value.length;
    if (received > limit) throw new BodyError("too_large");
    buffer.write(value);
  }
}

/**
 * Discards a rejected body, so that the sender receives the response. Closes the connection if the rest takes too long
 * or arrives in too many chunks.
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

/** @param length number of bytes that the sender has announced; 0 or NaN if unknown */
function receive(
  { budget, timeoutMs = BODY_TIMEOUT_MS }: BodyBounds,
  length: number,
  read: (buffer: BodyBuffer) => Promise<unknown>,
): Promise<BodyBuffer> {
  return new Promise((resolve, reject) => {
    const buffer = budget.open({ timeoutMs, length, onGivenUp: reject });
    const done = () => {
      buffer.stopTimer();
      resolve(buffer);
    };
    read(buffer).then(done, (error: unknown) => {
      buffer.release();
      reject(
        error instanceof BodyError ? error : new BodyError(problemOf(error), { cause: error }),
      );
    });
  });
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
