/** The size of a {@link Bounded} collection. The first bound that is reached counts. */
export interface Bounds {
  readonly items: number;
  readonly bytes: number;
}

/** Bounds of deliveries and of calls, each. */
export const MAX_RECORDS: Bounds = { items: 1_000, bytes: 16 * 1024 * 1024 };

interface Kept<T> {
  readonly item: T;
  bytes: number;
}

/** Keeps the newest items within {@link Bounds}. The oldest ones go first. */
export class Bounded<T> {
  readonly #bounds: Bounds;
  readonly #kept = new Map<number, Kept<T>>();
  #bytes = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** @param seq greater than that of every earlier item */
  add(seq: number, item: T, bytes: number): void {
    this.#kept.set(seq, { item, bytes: 0 });
    this.grow(seq, bytes);
  }

  /** Counts bytes that an item has grown by. Does nothing if the item is no longer kept. */
  grow(seq: number, bytes: number): void {
    const kept = this.#kept.get(seq);
    if (kept === undefined) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#kept.size <= this.#bounds.items && this.#bytes <= this.#bounds.bytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
  }

  get(seq: number): T | undefined {
    return this.#kept.get(seq)?.item;
  }

  /** Returns all items, oldest first. */
  all(): T[] {
    return [...this.#kept.values()].map(({ item }) => item);
  }
}

/** Returns a copy of the first `max` bytes. */
export function firstBytes(bytes: Buffer, max: number): Buffer {
  if (bytes.byteLength <= max) return bytes;
  // A view would keep all of the bytes in memory.
  return Buffer.from(bytes.subarray(0, max));
}
