import { BodyError, type BodyProblem } from "./error.ts";

/**
 * Pieces that one body may come in. 16 MiB in TCP segments are 12,000 pieces. Each piece costs a microsecond and,
 * where it is kept, some 500 bytes, so a body of single bytes would stall the process.
 */
const MAX_PIECES = 65_536;

/** In bytes. The first block fits the usual delivery. Later blocks double, so a body of N bytes has few of them. */
const MIN_BLOCK_BYTES = 1_024;
const MAX_BLOCK_BYTES = 1_048_576;

/**
 * Bytes of request bodies that one server holds until they are taken. Beyond the bound the oldest of these bodies is
 * given up, because a genuine sender is done within moments.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;
  /** Oldest first. */
  readonly #open = new Set<BodyBuffer>();

  /** @param maxBytes at least the largest body that is accepted */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes held now, at most the bound. */
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
   * Makes room for a block of `owner`, which gives up other bodies, the oldest first.
   *
   * @throws {BodyError} busy, where `owner` is the oldest
   */
  reserve(owner: BodyBuffer, bytes: number): void {
    while (this.#usedBytes + bytes > this.#maxBytes) {
      const oldest = this.#oldestWithBytes();
      if (oldest === undefined || oldest === owner) throw owner.giveUp("busy");
      oldest.giveUp("busy");
    }
    this.#usedBytes += bytes;
  }

  /** Returns what a body has held. */
  free(owner: BodyBuffer, bytes: number): void {
    if (this.#open.delete(owner)) this.#usedBytes -= bytes;
  }

  #oldestWithBytes(): BodyBuffer | undefined {
    for (const buffer of this.#open) if (buffer.heldBytes > 0) return buffer;
    return undefined;
  }
}

/** One body until it is taken: its bytes, copied into few blocks. A decoder for raw-body. */
export class BodyBuffer {
  readonly #budget: BodyBudget;
  readonly #givenUp = Promise.withResolvers<never>();
  #problem: BodyError | undefined;
  #blocks: Buffer[] = [];
  /** Bytes of the last block that are in use. */
  #used = 0;
  #heldBytes = 0;
  #pieces = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
    // Readers race against it; without one it is no unhandled rejection.
    this.#givenUp.promise.catch(() => undefined);
  }

  /** Bytes of memory, a little more than have arrived. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Rejects with a {@link BodyError} once the body is given up. */
  get givenUp(): Promise<never> {
    return this.#givenUp.promise;
  }

  /**
   * Copies a piece. Returns "" because the bytes are taken with {@link take}.
   *
   * @throws {BodyError} fragmented, busy, or the problem that the body was given up for
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
   * @throws {BodyError} the problem that the body was given up for
   */
  take(): Buffer {
    if (this.#problem !== undefined) throw this.#problem;
    const last = this.#blocks.pop()?.subarray(0, this.#used) ?? Buffer.alloc(0);
    const body = this.#blocks.length === 0 ? last : Buffer.concat([...this.#blocks, last]);
    this.release();
    return body;
  }

  /** Ends the body with a problem, and frees its bytes. Later pieces are refused with the same problem. */
  giveUp(problem: BodyProblem): BodyError {
    this.#problem ??= new BodyError(problem);
    this.#givenUp.reject(this.#problem);
    this.release();
    return this.#problem;
  }

  /** Frees the bytes. Without effect the second time. */
  release(): void {
    this.#budget.free(this, this.#heldBytes);
    this.#blocks = [];
    this.#used = 0;
    this.#heldBytes = 0;
  }

  /** Returns how many bytes of the piece were copied. */
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
    // Outside Node's pool, because a small body would keep all of a pool's 8 KiB alive.
    const block = Buffer.allocUnsafeSlow(size);
    this.#blocks.push(block);
    this.#used = 0;
    this.#heldBytes += size;
    return block;
  }
}
