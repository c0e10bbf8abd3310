import type { Clock } from "../../core/clock.ts";

/** A POST request to an endpoint. */
export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An answer whose status is known and whose body may still be on its way. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Reads the body to its end. Resolves to whether it was whole; called once. */
  readonly read: (onChunk: (chunk: Uint8Array) => void) => Promise<boolean>;
}

/** Carries deliveries to endpoints. */
export interface Transport {
  /** Resolves as soon as the status is known. */
  post(post: Post): Promise<RawAnswer>;
  /** Ends every open request, for this reason. */
  cut(why: string): void;
  /** Ends every open request; further ones fail. */
  close(): void;
}

/** Hands deliveries to a function in this process. */
export class InProcess implements Transport {
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #open = new Set<(error: Error) => void>();
  #closed = false;

  constructor(fetch: (request: Request) => Promise<Response>, clock: Clock, timeoutMs: number) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  async post({ url, headers, ...post }: Post): Promise<RawAnswer> {
    if (this.#closed) throw new Error("the platform stopped");
    const abort = new AbortController();
    const { promise: failed, reject } = Promise.withResolvers<never>();
    const fail = (error: Error) => {
      reject(error);
      abort.abort(error);
    };
    this.#open.add(fail);
    const body = new Uint8Array(post.body);
    const cancel = this.#clock.timer(this.#timeoutMs, () => {
      fail(new Error(`no answer within ${this.#timeoutMs} ms`));
    });
    try {
      const init = {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal: abort.signal,
      } as const;
      const answer = await Promise.race([this.#fetch(new Request(url, init)), failed]);
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        read: (onChunk) => readAll(answer.body, onChunk),
      };
    } finally {
      cancel();
      this.#open.delete(fail);
    }
  }

  cut(why: string): void {
    for (const fail of this.#open) fail(new Error(why));
  }

  close(): void {
    this.#closed = true;
    this.cut("the platform stopped");
  }
}

async function readAll(
  body: ReadableStream<Uint8Array> | null,
  onChunk: (chunk: Uint8Array) => void,
): Promise<boolean> {
  try {
    for await (const chunk of body ?? []) onChunk(chunk);
    return true;
  } catch {
    return false;
  }
}

/** Bytes kept of the body of an answer. */
const MAX_KEPT_BYTES = 64 * 1024;

/**
 * Answer of an endpoint. The status alone decides on a delivery; the body is collected beside that,
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
