import { type Linked, LinkedSet } from "./churn.ts";

/**
 * Reason why a body could not be read. `busy` means that the server's budget for bodies is used up, `fragmented` that
 * the body arrived in too many small chunks, and `already_read` that other code has read the body.
 */
export type BodyProblem =
  | "too_large"
  | "incomplete"
  | "length_mismatch"
  | "timeout"
  | "busy"
  | "fragmented"
  | "already_read";

/** Thrown if a body cannot be read. Each server maps the problem to its own error response. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly problem: BodyProblem;

  constructor(problem: BodyProblem, options?: ErrorOptions) {
    super(`Cannot read the body: ${problem}.`, options);
    this.problem = problem;
  }
}

/**
 * Maximum number of small chunks in a body. Each chunk costs a microsecond and, if kept, about 500 bytes, so a body
 * sent byte by byte would stall the process.
 */
const MAX_SMALL_PIECES = 65_536;

/** A chunk with fewer bytes is small. A TCP segment has more, so a body of any size may arrive in segments. */
const SMALL_PIECE_BYTES = 512;

/** Counts the small chunks of a body. */
export class SmallPieces {
  #count = 0;

  /** Returns true if the body has arrived in too many small chunks, this one included. */
  exceedWith(piece: Uint8Array): boolean {
    if (piece.byteLength < SMALL_PIECE_BYTES) this.#count += 1;
    return this.#count > MAX_SMALL_PIECES;
  }
}

/**
 * Block sizes, in bytes. The first block fits a typical delivery. Each further block doubles the total, so even a large
 * body needs only a few blocks.
 */
const MIN_BLOCK_BYTES = 1_024;
const MAX_BLOCK_BYTES = 1_048_576;

export interface BodyBufferOptions {
  /** Time limit for the whole body, in ms. Unlimited by default. */
  readonly timeoutMs?: number;
  /** Number of bytes that the sender has announced; 0 or NaN if unknown. */
  readonly length?: number;
  /** Called when the body is dropped. */
  readonly onGivenUp?: (error: BodyError) => void;
}

/**
 * Memory budget for one server's request bodies. When the budget is full, the oldest body is dropped, because a genuine
 * sender finishes quickly.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;
  /** Oldest first. */
  readonly #open = new LinkedSet<BodyBuffer>();
  /** Fires when the first time limit of an open body is over. One timer per body would cost more than reading it. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** @param maxBytes at least the size of the largest accepted body */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Adds a body to the budget. The caller must call {@link BodyBuffer.release}. */
  open(options: BodyBufferOptions = {}): BodyBuffer {
    const buffer = new BodyBuffer(this, options);
    this.#open.add(buffer);
    if (buffer.deadline < this.#timerAt) this.#wakeAt(buffer.deadline);
    return buffer;
  }

  /**
   * Reserves a block for `owner`, and drops other bodies if necessary, oldest first.
   *
   * @throws {BodyError} with the problem `busy`, if `owner` is the oldest
   */
  reserve(owner: BodyBuffer, bytes: number): void {
    while (this.#usedBytes + bytes > this.#maxBytes) {
      const oldest = this.#oldestWithBytes();
      if (oldest === undefined || oldest === owner) throw owner.giveUp("busy");
      oldest.giveUp("busy");
    }
    this.#usedBytes += bytes;
  }

  free(owner: BodyBuffer, bytes: number): void {
    if (this.#open.delete(owner)) this.#usedBytes -= bytes;
  }

  #oldestWithBytes(): BodyBuffer | undefined {
    for (const buffer of this.#open) if (buffer.heldBytes > 0) return buffer;
    return undefined;
  }

  #wakeAt(deadline: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = deadline;
    this.#timer = setTimeout(() => this.#giveUpLate(), Math.max(0, deadline - performance.now()));
    this.#timer.unref();
  }

  #giveUpLate(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const buffer of this.#open) {
      if (buffer.deadline <= now) buffer.giveUp("timeout");
      else next = Math.min(next, buffer.deadline);
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }
}

/** Collects a body's bytes in a few blocks. Implements the interface of a raw-body decoder. */
export class BodyBuffer implements Linked<BodyBuffer> {
  previous: BodyBuffer | undefined;
  next: BodyBuffer | undefined;
  /** When the time limit is over, on the clock of `performance.now()`. */
  deadline: number;
  readonly #budget: BodyBudget;
  readonly #length: number;
  readonly #onGivenUp: (error: BodyError) => void;
  #problem: BodyError | undefined;
  #blocks: Buffer[] = [];
  #used = 0;
  #heldBytes = 0;
  readonly #smallPieces = new SmallPieces();

  constructor(
    budget: BodyBudget,
    {
      timeoutMs = Number.POSITIVE_INFINITY,
      length = 0,
      onGivenUp = () => undefined,
    }: BodyBufferOptions,
  ) {
    this.#budget = budget;
    this.#length = length;
    this.#onGivenUp = onGivenUp;
    this.deadline = performance.now() + timeoutMs;
  }

  /** Allocated bytes, slightly more than the bytes received. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Ends the time limit, because the body is complete. */
  stopTimer(): void {
    this.deadline = Number.POSITIVE_INFINITY;
  }

  /**
   * Copies a chunk, unless it is the whole body. Returns "" instead of decoded text, because {@link take} returns the
   * bytes.
   *
   * @throws {BodyError} if there are too many small chunks, the budget is used up, or the body has been dropped
   */
  write(piece: Uint8Array): "" {
    if (this.#problem !== undefined) throw this.#problem;
    if (this.#smallPieces.exceedWith(piece)) throw this.giveUp("fragmented");
    if (this.#blocks.length === 0 && piece.length === this.#length) this.#keep(piece);
    else for (let at = 0; at < piece.length; ) at += this.#copy(piece, at);
    return "";
  }

  end(): undefined {
    return undefined;
  }

  /**
   * Returns the whole body in one buffer, and frees the blocks.
   *
   * @throws {BodyError} if the body has been dropped
   */
  take(): Buffer {
    if (this.#problem !== undefined) throw this.#problem;
    const last = this.#blocks.pop()?.subarray(0, this.#used) ?? Buffer.alloc(0);
    const body = this.#blocks.length === 0 ? last : Buffer.concat([...this.#blocks, last]);
    this.release();
    return body;
  }

  /** Drops the body and frees its bytes. Later chunks are rejected with the same problem. */
  giveUp(problem: BodyProblem): BodyError {
    this.#problem ??= new BodyError(problem);
    this.#onGivenUp(this.#problem);
    this.release();
    return this.#problem;
  }

  /** Frees the bytes. Later calls have no effect. */
  release(): void {
    this.#budget.free(this, this.#heldBytes);
    this.#blocks = [];
    this.#used = 0;
    this.#heldBytes = 0;
  }

  /** Keeps a chunk that is the whole body. */
  #keep(piece: Uint8Array): void {
    this.#budget.reserve(this, piece.length);
    this.#blocks = [Buffer.from(piece.buffer, piece.byteOffset, piece.length)];
    this.#used = piece.length;
    this.#heldBytes = piece.length;
  }

  /** Copies as much of the chunk as fits into the current block. Returns the number of bytes copied. */
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
    // Allocate outside Node's pool, because even a small body would keep a whole pool of 8 KiB alive.
    const block = Buffer.allocUnsafeSlow(size);
    this.#blocks.push(block);
    this.#used = 0;
    this.#heldBytes += size;
    return block;
  }
}
