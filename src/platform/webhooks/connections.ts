import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "../../core/clock.ts";
import { hasCode } from "../../errors.ts";
import type { Post, RawAnswer, Transport } from "./transport.ts";

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
          resolve({ status, headers, read: (onChunk) => readAll(answer, onChunk) });
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
function readAll(answer: IncomingMessage, onChunk: (chunk: Buffer) => void): Promise<boolean> {
  return new Promise((resolve) => {
    answer.on("data", onChunk);
    answer.on("error", () => {});
    answer.on("close", () => resolve(answer.complete));
  });
}

/** Tells of a failed request whether its connection was a kept one, of which not one byte came back. */
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
