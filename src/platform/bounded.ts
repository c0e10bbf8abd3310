interface Kept<T> {
  readonly item: T;
  bytes: number;
}

/** The newest of something, as many as are allowed and as take no more than so many bytes. */
export class Bounded<T> {
  readonly #most: { readonly items: number; readonly bytes: number };
  readonly #kept = new Map<number, Kept<T>>();
  #bytes = 0;

  constructor(most: { readonly items: number; readonly bytes: number }) {
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
