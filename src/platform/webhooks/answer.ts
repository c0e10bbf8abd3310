import type { RawAnswer } from "./transport.ts";

/** What is kept of the body of an answer, in bytes. */
const MAX_KEPT_BYTES = 64 * 1024;

/**
 * What an endpoint has answered. The status alone decides on a delivery; the body is collected beside that,
 * for whoever looks at the delivery afterwards.
 */
export class EndpointAnswer {
  readonly status: number;
  readonly headers: RawAnswer["headers"];
  /** Resolves when there is no more to collect: the body has ended or broken off, or the rest is not kept. */
  readonly collected: Promise<void>;
  readonly #kept: Buffer[] = [];
  #bytes = 0;
  #truncated = false;

  constructor({ status, headers, read }: RawAnswer) {
    this.status = status;
    this.headers = headers;
    this.collected = new Promise((resolve) => {
      // Reading goes on to the end, because a bot must not find its connection stuck.
      const onChunk = (chunk: Uint8Array) => {
        this.#keep(chunk);
        if (this.#truncated) resolve();
      };
      void read(onChunk).then((isWhole) => {
        if (!isWhole) this.#truncated = true;
        resolve();
      });
    });
  }

  /** The body as far as it is kept, in bytes. */
  get body(): Buffer {
    return Buffer.concat(this.#kept);
  }

  /** How many bytes are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True when `body` is not the whole: it was longer, or broke off. */
  get truncated(): boolean {
    return this.#truncated;
  }

  #keep(chunk: Uint8Array): void {
    const room = MAX_KEPT_BYTES - this.#bytes;
    if (chunk.byteLength > room) this.#truncated = true;
    // A copy: a part of a chunk would keep the whole of it in memory.
    const part = Buffer.from(chunk.subarray(0, room));
    if (part.byteLength > 0) this.#kept.push(part);
    this.#bytes += part.byteLength;
  }
}
