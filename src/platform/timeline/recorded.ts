/** A recorded request. */
export interface RecordedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body text, truncated to 1 MB for a delivery and 64 KB for a call. */
  readonly body: string;
  readonly truncated: boolean;
}

/** A recorded response. */
export interface RecordedResponse {
  /** HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** First 64 KB of the body, decoded as UTF-8. */
  readonly body: string;
  /** True if the body was too long or incomplete. */
  readonly truncated: boolean;
}

/** Decodes UTF-8. Drops an incomplete character at the end. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}

export function firstBytes(bytes: Buffer, max: number): Buffer {
  // Copy the bytes, because a view would keep the whole buffer in memory.
  return bytes.byteLength <= max ? bytes : Buffer.from(bytes.subarray(0, max));
}

/** Capacity of a {@link Bounded} collection. Both limits apply. */
export interface Bounds {
  readonly items: number;
  readonly bytes: number;
}

/** Bounds for deliveries, and separately for calls. */
export const MAX_RECORDS: Bounds = { items: 1_000, bytes: 16 * 1024 * 1024 };

/** Estimated size of a record without its texts and bodies. */
export const RECORD_BYTES = 1_024;

/** Returns the maximum memory that the texts occupy, in bytes: two per UTF-16 unit. */
export function textBytes(texts: readonly (string | undefined)[]): number {
  return 2 * texts.reduce((sum, text = "") => sum + text.length, 0);
}

interface SizedItem<T> {
  readonly item: T;
  bytes: number;
}

/** Keeps the newest items within {@link Bounds}. Evicts the oldest items first. */
export class Bounded<T> {
  readonly #bounds: Bounds;
  readonly #items = new Map<number, SizedItem<T>>();
  #bytes = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** @param seq must be greater than the `seq` of every earlier item */
  add(seq: number, item: T, bytes: number): void {
    this.#items.set(seq, { item, bytes: 0 });
    this.grow(seq, bytes);
  }

  /** Increases an item's size. Does nothing if the item has been evicted. */
  grow(seq: number, bytes: number): void {
    const kept = this.#items.get(seq);
    if (kept === undefined) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#items) {
      if (this.#items.size <= this.#bounds.items && this.#bytes <= this.#bounds.bytes) break;
      this.#items.delete(oldest);
      this.#bytes -= freed;
    }
  }

  get(seq: number): T | undefined {
    return this.#items.get(seq)?.item;
  }

  all(): T[] {
    return [...this.#items.values()].map(({ item }) => item);
  }
}
