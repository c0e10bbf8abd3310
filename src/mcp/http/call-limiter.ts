/** Requests under way in all. */
const MAX_CALLS = 512;

/** Requests under way of one token, so that one client leaves room for the others. */
const MAX_CALLS_PER_TOKEN = 256;

/** Bytes of the messages of all calls under way: eight of the largest ones. As many may arrive or wait. */
export const MAX_MESSAGE_BYTES_HELD: number = 64 * 1024 * 1024;

/** A request under way, until its answer is sent. */
export interface CallPermit {
  /** Reserves memory for a message, in bytes. @returns whether there was room */
  reserve(bytes: number): boolean;
  /** Ends the request and releases its memory. */
  release(): void;
}

/** Bounds the requests under way and the memory that their messages take. */
export class CallLimiter {
  readonly #calls = new Map<string, number>();
  #total = 0;
  #bytes = 0;

  /** Admits a request of a token. @returns `undefined` if too many are under way */
  admit(fingerprint: string): CallPermit | undefined {
    const ofToken = this.#calls.get(fingerprint) ?? 0;
    if (this.#total >= MAX_CALLS || ofToken >= MAX_CALLS_PER_TOKEN) return undefined;
    this.#total += 1;
    this.#calls.set(fingerprint, ofToken + 1);
    let reserved = 0;
    return {
      reserve: (bytes) => {
        if (this.#bytes + bytes > MAX_MESSAGE_BYTES_HELD) return false;
        this.#bytes += bytes;
        reserved += bytes;
        return true;
      },
      release: () => {
        this.#bytes -= reserved;
        this.#end(fingerprint);
      },
    };
  }

  #end(fingerprint: string): void {
    this.#total -= 1;
    const ofToken = (this.#calls.get(fingerprint) ?? 0) - 1;
    if (ofToken > 0) this.#calls.set(fingerprint, ofToken);
    else this.#calls.delete(fingerprint);
  }
}
