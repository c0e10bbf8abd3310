/** How much is kept. */
export interface Most {
  readonly items: number;
  readonly bytes: number;
}

/** Of records: older ones are forgotten; so are the oldest ones when all of them take more bytes than that. */
export const MOST_RECORDS: Most = { items: 1_000, bytes: 16 * 1024 * 1024 };

interface Kept<T> {
  readonly item: T;
  bytes: number;
}

/** The newest of something, as many as are allowed and as take no more than so many bytes. */
export class Bounded<T> {
  readonly #most: Most;
  readonly #kept = new Map<number, Kept<T>>();
  #bytes = 0;

  constructor(most: Most) {
    this.#most = most;
  }

  /** Keeps an item by its number, which is above those before. */
  add(seq: number, item: T, bytes: number): void {
    this.#kept.set(seq, { item, bytes: 0 });
    this.grow(seq, bytes);
  }

  /** The item has become so much larger; nothing when it is not kept any more. */
  grow(seq: number, bytes: number): void {
    const kept = this.#kept.get(seq);
    if (kept === undefined) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#kept.size <= this.#most.items && this.#bytes <= this.#most.bytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
  }

  get(seq: number): T | undefined {
    return this.#kept.get(seq)?.item;
  }

  /** Oldest first. */
  all(): T[] {
    return [...this.#kept.values()].map(({ item }) => item);
  }
}

/** No more than the first `most` bytes, as what is kept of them. */
export function firstBytes(bytes: Buffer, most: number): Buffer {
  if (bytes.byteLength <= most) return bytes;
  // A copy: a part of the bytes would keep the whole of them in memory.
  return Buffer.from(bytes.subarray(0, most));
}
