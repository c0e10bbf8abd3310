import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "../../core/clock.ts";
import { hasCode } from "../../errors.ts";

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A response whose status has arrived. Its body may still be arriving. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Reads the body to its end, and resolves with whether it was complete. May be called only once. */
  readonly read: (onChunk: (chunk: Uint8Array) => void) => Promise<boolean>;
}

export interface Transport {
  post(post: Post): Promise<RawAnswer>;
  /** Cancels every open request with this reason. */
  cut(why: string): void;
  /** Cancels every open request. Later requests fail. */
  close(): void;
}

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
      fail(new Error(`no response within ${this.#timeoutMs} ms`));
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

/** Maximum number of bytes to keep of each response body. */
const MAX_KEPT_BYTES = 64 * 1024;

/**
 * An endpoint's response. Only the status decides whether the delivery succeeded. The body is read in the background,
 * for the record.
 */
export class EndpointAnswer {
  readonly status: number;
  readonly headers: RawAnswer["headers"];
  /** Resolves once the body has ended, was cut off, or exceeds the size to keep. */
  readonly collected: Promise<void>;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #truncated = false;

  constructor({ status, headers, read }: RawAnswer) {
    this.status = status;
    this.headers = headers;
    this.collected = new Promise((resolve) => {
      // Read to the end, because an unread body would block the bot's connection.
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

  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True if `body` is incomplete, because it was too long or cut off. */
  get truncated(): boolean {
    return this.#truncated;
  }

  #keep(chunk: Uint8Array): void {
    const room = MAX_KEPT_BYTES - this.#bytes;
    if (chunk.byteLength > room) this.#truncated = true;
    // Copy the bytes, because a view would keep the whole chunk in memory.
    const part = Buffer.from(chunk.subarray(0, room));
    if (part.byteLength > 0) this.#chunks.push(part);
    this.#bytes += part.byteLength;
  }
}

/**
 * In ms. Long enough for a burst of deliveries. Shorter than the usual keep-alive timeout of endpoints, because a
 * connection that an endpoint has closed cannot be reused.
 */
const KEPT_MS = 1_000;

/** `maxCachedSessions: 0` makes every new connection verify the certificate. */
const KEPT = { keepAlive: true, timeout: KEPT_MS, maxCachedSessions: 0 } as const;

/** Connections to endpoints. After a response, a connection stays open briefly for the next delivery. */
export class Connections implements Transport {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #agents = { "http:": new HttpAgent(KEPT), "https:": new HttpsAgent(KEPT) };
  readonly #open = new Set<ClientRequest>();
  #closed = false;

  /** @param timeoutMs covers the whole request, up to the end of its response */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sends a request. Resolves with the response once its status has arrived. A reused connection may be dead although
   * the endpoint is healthy. In this case, the same bytes are sent again over a new connection, within the same
   * timeout.
   */
  post(post: Post): Promise<RawAnswer> {
    if (this.#closed) return Promise.reject(new Error("the platform stopped"));
    return new Promise((resolve, reject) => {
      let request: ClientRequest;
      const send = (over: "kept" | "new") => {
        const begun = this.#begin(post, over);
        request = begun;
        const wasDead = watchForDeath(begun);
        begun.on("response", (answer) => {
          const { statusCode: status = 0, headers } = answer;
          resolve({ status, headers, read: (onChunk) => readAnswer(answer, onChunk) });
        });
        begun.on("error", (error) => {
          if (wasDead(error) && !this.#closed) send("new");
          else reject(error);
        });
        begun.on("close", () => {
          if (request !== begun) return;
          cancel();
          // The connection has switched to another protocol, so neither a response nor an error will arrive.
          reject(new Error("the connection closed before a response arrived"));
        });
        begun.end(post.body);
      };
      send("kept");
      const cancel = this.#clock.timer(this.#timeoutMs, () => {
        request.destroy(new Error(`no response within ${this.#timeoutMs} ms`));
      });
    });
  }

  close(): void {
    this.#closed = true;
    this.cut("the platform stopped");
    // The agent's destroy() would also cancel open requests, with a different error.
    for (const agent of Object.values(this.#agents)) {
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
  }

  cut(why: string): void {
    for (const request of this.#open) request.destroy(new Error(why));
  }

  #begin({ url, headers }: Post, over: "kept" | "new"): ClientRequest {
    const secure = url.protocol === "https:";
    const agent = over === "kept" && this.#agents[secure ? "https:" : "http:"];
    const request = (secure ? httpsRequest : httpRequest)(url, { method: "POST", headers, agent });
    this.#open.add(request);
    request.once("close", () => this.#open.delete(request));
    return request;
  }
}

/** Uses events instead of iteration, because iteration would also report a dropped connection as a socket error. */
function readAnswer(answer: IncomingMessage, onChunk: (chunk: Buffer) => void): Promise<boolean> {
  return new Promise((resolve) => {
    answer.on("data", onChunk);
    answer.on("error", () => {});
    answer.on("close", () => resolve(answer.complete));
  });
}

/** Returns a function that checks whether a reused connection failed before the first byte of a response. */
function watchForDeath(request: ClientRequest): (error: unknown) => boolean {
  let readBefore = 0;
  request.once("socket", (socket) => {
    readBefore = socket.bytesRead;
  });
  return (error) =>
    request.reusedSocket &&
    request.socket?.bytesRead === readBefore &&
    (hasCode(error, "ECONNRESET") || hasCode(error, "EPIPE"));
}
