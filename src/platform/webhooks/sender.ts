import { type ClientRequest, request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Clock } from "../../core/clock.ts";
import type { AnyEvent } from "../../events/types.ts";
import { sign } from "../../signature/signature.ts";
import { whyNoAnswer } from "./no-answer.ts";

/** One delivery: where it goes, what signs it, what it holds. */
export interface Delivery {
  readonly url: string;
  readonly secret: string;
  readonly events: readonly AnyEvent[];
}

export interface DeliveryResult {
  /** The HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Milliseconds until the answer or the error. */
  readonly ms: number;
  /** Why it failed; absent when it was answered with 200 to 299. */
  readonly error?: string;
}

/** The outbound request of the platform (section 4, "Webhook receiver"). */
export class Sender {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #open = new Set<ClientRequest>();
  #closed = false;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Signs and sends once. Never rejects; redirects are not followed. */
  async send({ url, secret, events }: Delivery): Promise<DeliveryResult> {
    const started = this.#clock.now();
    const ms = () => this.#clock.now() - started;
    // Signed and sent are the same bytes; every try is signed with its own time.
    const body = Buffer.from(JSON.stringify({ events }));
    try {
      const status = await this.#post(new URL(url), body, {
        "content-type": "application/json",
        "content-length": body.byteLength,
        "user-agent": "Service-Webhook/1",
        "x-service-signature": sign(body, secret, started / 1000),
        "x-service-event-count": events.length,
      });
      const error = refusal(status);
      return { status, ms: ms(), ...(error === undefined ? {} : { error }) };
    } catch (error) {
      return { status: null, ms: ms(), error: whyNoAnswer(error, new URL(url)) };
    }
  }

  /** Ends every open request; further ones fail. */
  close(): void {
    this.#closed = true;
    for (const request of this.#open) request.destroy(new Error("the platform stopped"));
  }

  /** Resolves to the status as soon as it is known. */
  #post(url: URL, body: Buffer, headers: OutgoingHttpHeaders): Promise<number> {
    if (this.#closed) return Promise.reject(new Error("the platform stopped"));
    return new Promise((resolve, reject) => {
      const open = url.protocol === "https:" ? httpsRequest : httpRequest;
      // A connection of its own for each delivery: a kept one may be dead by now, and that failure
      // would count against an endpoint which is well.
      const request = open(url, { method: "POST", headers, agent: false });
      const cancel = this.#clock.timer(this.#timeoutMs, () => {
        request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`));
      });
      this.#open.add(request);
      request.on("close", () => {
        cancel();
        this.#open.delete(request);
      });
      request.on("error", reject);
      request.on("response", (response) => {
        resolve(response.statusCode ?? 0);
        // The body means nothing, and neither does an error while it passes by; the timeout ends it.
        response.on("error", () => {});
        response.resume();
      });
      request.end(body);
    });
  }
}

/** A failure is any answer that is not 200 to 299 (section 3). */
function refusal(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const redirect = status >= 300 && status <= 399 ? "; redirects are not followed" : "";
  return `answered ${status}${redirect}`;
}
