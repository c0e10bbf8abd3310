/** A request of a record. */
export interface RecordedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text that was sent: up to 1 MB of a delivery, 64 KB of a call. */
  readonly body: string;
  readonly truncated: boolean;
}

/** An answer of a record. */
export interface RecordedResponse {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Up to 64 KB, read as UTF-8. */
  readonly body: string;
  /** True if it was longer, or broke off. */
  readonly truncated: boolean;
}

/** Decodes bytes. A character that is cut in two at the end is left out. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}

/** Returns a copy of the first `max` bytes. */
export function firstBytes(bytes: Buffer, max: number): Buffer {
  // A view would keep all of the bytes in memory.
  return bytes.byteLength <= max ? bytes : Buffer.from(bytes.subarray(0, max));
}

/** The size of a {@link Bounded} collection. The first bound that is reached counts. */
export interface Bounds {
  readonly items: number;
  readonly bytes: number;
}

/** Bounds of deliveries and of calls, each. */
export const MAX_RECORDS: Bounds = { items: 1_000, bytes: 16 * 1024 * 1024 };

/** In bytes. The objects of a record, without its texts and bytes. */
export const RECORD_BYTES = 1_024;

/** Returns the memory that texts take at most, in bytes: two for each character. */
export function textBytes(...texts: readonly (string | undefined)[]): number {
  return 2 * texts.reduce((sum, text = "") => sum + text.length, 0);
}

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
