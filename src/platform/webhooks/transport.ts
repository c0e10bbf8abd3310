import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "../../core/clock.ts";
import { hasCode } from "../../errors.ts";

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
 * for a later look at the delivery.
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

/**
 * How long a connection is kept for the next delivery, in ms: for a burst, and shorter than endpoints
 * keep theirs, so that few are found dead.
 */
const KEPT_MS = 1_000;

/** No TLS session outlives its connection: every new one is shown a certificate. */
const KEPT = { keepAlive: true, timeout: KEPT_MS, maxCachedSessions: 0 } as const;

/** The connections to endpoints. One that answered is kept for a moment, for the next delivery. */
export class Connections implements Transport {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #agents = { "http:": new HttpAgent(KEPT), "https:": new HttpsAgent(KEPT) };
  readonly #open = new Set<ClientRequest>();
  #closed = false;

  /** `timeoutMs`: how long a request may take, to the end of its answer. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sends a request. Resolves to the answer as soon as its status is known. A kept
   * connection may be dead by now, and that says nothing about an endpoint which is well: then the same
   * bytes go out once more, over a new connection and within the same time.
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
          // Without an answer or an error by now, none will come: the connection has switched to another protocol.
          reject(new Error("the connection was closed before an answer came"));
        });
        begun.end(post.body);
      };
      send("kept");
      const cancel = this.#clock.timer(this.#timeoutMs, () => {
        request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`));
      });
    });
  }

  /** Ends every open request and every connection; further requests fail. */
  close(): void {
    this.#closed = true;
    this.cut("the platform stopped");
    // An agent's own destroy() would end the open ones as well, without our words.
    for (const agent of Object.values(this.#agents)) {
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
  }

  /** Ends every open request, for this reason. */
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

/** By events rather than iteration, because Node reports a cut as an error of the socket then, too. */
function readAnswer(answer: IncomingMessage, onChunk: (chunk: Buffer) => void): Promise<boolean> {
  return new Promise((resolve) => {
    answer.on("data", onChunk);
    answer.on("error", () => {});
    answer.on("close", () => resolve(answer.complete));
  });
}

/** Returns whether the connection of a failed request was a kept one, of which not one byte came back. */
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
