import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";

/**
 * Reason why a body was not read: too large, cut off, a length other than announced, too slow, displaced by other
 * bodies, in too many chunks, or already read by other code.
 */
export type BodyProblem =
  | "too_large"
  | "incomplete"
  | "length_mismatch"
  | "timeout"
  | "busy"
  | "fragmented"
  | "already_read";

/** Error for a body that was not read. Each server maps it to a response in its own protocol. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly problem: BodyProblem;

  constructor(problem: BodyProblem, options?: ErrorOptions) {
    super(`Cannot read the body: ${problem}.`, options);
    this.problem = problem;
  }
}

/** In ms. Even on a slow connection, a large delivery arrives within a few seconds. */
const BODY_TIMEOUT_MS = 10_000;

/** The server still reads a refused body for this long, so that the sender receives the response. In ms. */
const DROP_TIMEOUT_MS = 5_000;

/** Maximum number of a refused body's chunks that are dropped. 16 MiB in TCP segments are 12,000 chunks. */
const MAX_DROPPED_PIECES = 16_384;

/** Limits for one body. */
export interface BodyBounds {
  /** Maximum size, in bytes. */
  readonly limit: number;
  /** Budget shared by all of a server's bodies. */
  readonly budget: BodyBudget;
  /** Time limit from the call to the last byte, in ms. Default {@link BODY_TIMEOUT_MS}. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Reads the raw bytes of a body within bounds. Memory grows with the bytes, not with the number of chunks. Reading
 * begins before the call returns, because an unread request buffers each chunk separately.
 *
 * @throws {BodyError} The rest of the body is dropped, or the connection is closed.
 */
export async function readRequestBody(
  request: IncomingMessage,
  bounds: BodyBounds,
): Promise<Buffer> {
  try {
    const body = await receive(bounds, (decoder) => {
      const length = request.headers["content-length"] ?? null;
      const reading = getRawBody(request, {
        limit: bounds.limit,
        length,
        encoding: "raw",
        decoder,
      });
      // Ends the initial buffering of the stream, so that chunks go straight to the decoder.
      if (request.readableFlowing === true) request.read(0);
      return reading;
    });
    return body.take();
  } catch (error) {
    dropBody(request);
    throw error;
  }
}

/**
 * Reads a web-standard body as {@link readRequestBody} does; `null` is an empty body.
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
 * Reads a web-standard body as {@link readWebBody} does, and leaves it in the budget, where other bodies may still
 * displace it. The caller ends it with {@link BodyBuffer.take} or {@link BodyBuffer.release}.
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
    // A cancelled source may be slow or fail. The response does not depend on it.
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
    // A caller's own stream may contain decoded text.
    if (!(value instanceof Uint8Array)) throw new BodyError("already_read");
    received += value.length;
    if (received > limit) throw new BodyError("too_large");
    buffer.write(value);
  }
}

/**
 * Reads and drops a refused body, so that its sender receives the response. Closes the connection if the body continues
 * for seconds or arrives in tiny chunks.
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

/** raw-body checks the limit, the length and the end. The bytes go into a buffer from the budget. */
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

/**
 * Maximum number of chunks of one body. 16 MiB in TCP segments are 12,000 chunks. Each chunk costs a microsecond and,
 * if kept, about 500 bytes, so a body of single bytes would stall the process.
 */
const MAX_PIECES = 65_536;

/** In bytes. The first block fits a typical delivery. Later blocks double, so even a large body has few blocks. */
const MIN_BLOCK_BYTES = 1_024;
const MAX_BLOCK_BYTES = 1_048_576;

/**
 * Memory budget for one server's request bodies. When the budget is full, the oldest body is dropped, because a genuine
 * sender finishes quickly.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;
  /** Oldest first. */
  readonly #open = new Set<BodyBuffer>();

  /** @param maxBytes at least the size of the largest accepted body */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes currently held, at most `maxBytes`. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Starts a body. The caller ends it with {@link BodyBuffer.release}. */
  open(): BodyBuffer {
    const buffer = new BodyBuffer(this);
    this.#open.add(buffer);
    return buffer;
  }

  /**
   * Reserves a block for `owner`, and drops other bodies if necessary, oldest first.
   *
   * @throws {BodyError} busy, if `owner` is the oldest
   */
  reserve(owner: BodyBuffer, bytes: number): void {
    while (this.#usedBytes + bytes > this.#maxBytes) {
      const oldest = this.#oldestWithBytes();
      if (oldest === undefined || oldest === owner) throw owner.giveUp("busy");
      oldest.giveUp("busy");
    }
    this.#usedBytes += bytes;
  }

  /** Returns a finished body's bytes to the budget. */
  free(owner: BodyBuffer, bytes: number): void {
    if (this.#open.delete(owner)) this.#usedBytes -= bytes;
  }

  #oldestWithBytes(): BodyBuffer | undefined {
    for (const buffer of this.#open) if (buffer.heldBytes > 0) return buffer;
    return undefined;
  }
}

/** Bytes of one body, copied into few blocks until the caller takes them. Serves raw-body as its decoder. */
export class BodyBuffer {
  readonly #budget: BodyBudget;
  readonly #givenUp = Promise.withResolvers<never>();
  #problem: BodyError | undefined;
  #blocks: Buffer[] = [];
  /** Number of bytes in use in the last block. */
  #used = 0;
  #heldBytes = 0;
  #pieces = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
    // Without a reader, the rejection must not count as unhandled.
    this.#givenUp.promise.catch(() => undefined);
  }

  /** Allocated bytes, slightly more than the received bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Rejects with a {@link BodyError} when the body is dropped. */
  get givenUp(): Promise<never> {
    return this.#givenUp.promise;
  }

  /**
   * Copies a chunk. Returns "", because {@link take} returns the bytes.
   *
   * @throws {BodyError} fragmented, busy, or the reason why the body was dropped
   */
  write(piece: Uint8Array): "" {
    if (this.#problem !== undefined) throw this.#problem;
    this.#pieces += 1;
    if (this.#pieces > MAX_PIECES) throw this.giveUp("fragmented");
    for (let at = 0; at < piece.length; ) at += this.#copy(piece, at);
    return "";
  }

  end(): undefined {
    return undefined;
  }

  /**
   * Returns the whole body in one buffer, and releases the blocks.
   *
   * @throws {BodyError} the reason why the body was dropped
   */
  take(): Buffer {
    if (this.#problem !== undefined) throw this.#problem;
    const last = this.#blocks.pop()?.subarray(0, this.#used) ?? Buffer.alloc(0);
    const body = this.#blocks.length === 0 ? last : Buffer.concat([...this.#blocks, last]);
    this.release();
    return body;
  }

  /** Drops the body and frees its bytes. Later chunks are refused with the same problem. */
  giveUp(problem: BodyProblem): BodyError {
    this.#problem ??= new BodyError(problem);
    this.#givenUp.reject(this.#problem);
    this.release();
    return this.#problem;
  }

  /** Frees the bytes. A second call has no effect. */
  release(): void {
    this.#budget.free(this, this.#heldBytes);
    this.#blocks = [];
    this.#used = 0;
    this.#heldBytes = 0;
  }

  /** Copies as much of the chunk as fits into the block. Returns the number of copied bytes. */
  #copy(piece: Uint8Array, at: number): number {
    const block = this.#roomFor(piece.length - at);
    const bytes = Math.min(block.length - this.#used, piece.length - at);
    block.set(
      at === 0 && bytes === piece.length ? piece : piece.subarray(at, at + bytes),
      this.#used,
    );
    this.#used += bytes;
    return bytes;
  }

  #roomFor(bytes: number): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#used < last.length) return last;
    const wanted = Math.max(bytes, this.#heldBytes, MIN_BLOCK_BYTES);
    const size = Math.min(wanted, MAX_BLOCK_BYTES);
    this.#budget.reserve(this, size);
    // Outside Node's pool, because a small body would keep a whole pool of 8 KiB alive.
    const block = Buffer.allocUnsafeSlow(size);
    this.#blocks.push(block);
    this.#used = 0;
    this.#heldBytes += size;
    return block;
  }
}
