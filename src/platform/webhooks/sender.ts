import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { sleep } from "../../core/clock.ts";
import type { KnownEvent } from "../../events/types.ts";
import { sign } from "../../signature/signature.ts";
import type { PlatformClock } from "../clock/platform-clock.ts";
import type { DeliveryFault } from "../faults/webhook-fault.ts";
import { EndpointAnswer } from "./answer.ts";
import { whyNoAnswer } from "./no-answer.ts";

/** Where deliveries go, and what signs them. */
export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

export interface DeliveryResult {
  /** The HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Milliseconds until the answer or the error. */
  readonly ms: number;
  /** Why it failed; absent when it was answered with 200 to 299. */
  readonly error?: string;
}

/** A request to an endpoint. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The very bytes that were signed and sent. */
  readonly body: Buffer;
}

/** One delivery, with all that is known of it. */
export interface Sent extends DeliveryResult {
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
  readonly eventIds: readonly string[];
  /** Absent when nothing was sent. */
  readonly request?: SentRequest;
  /** Absent when no answer came. */
  readonly answer?: EndpointAnswer;
  readonly fault?: DeliveryFault;
}

/** The outbound request of the platform (section 4, "Webhook receiver"). */
export class Sender {
  readonly #clock: PlatformClock;
  readonly #timeoutMs: number;
  readonly #open = new Set<ClientRequest>();
  #cutting = new AbortController();
  #closed = false;

  constructor(clock: PlatformClock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Signs and sends once. Never rejects; redirects are not followed. */
  async send({ url, secret }: Endpoint, events: readonly KnownEvent[]): Promise<Sent> {
    const at = this.#clock.now();
    const ms = this.#stopwatch();
    // Signed and sent are the same bytes; every try is signed with its own time.
    const body = Buffer.from(JSON.stringify({ events }));
    const target = new URL(url);
    const headers = {
      host: target.host,
      "content-type": "application/json",
      "content-length": String(body.byteLength),
      "user-agent": "Service-Webhook/1",
      "x-service-signature": sign(body, secret, at / 1000),
      "x-service-event-count": String(events.length),
    };
    const request = { url, headers, body };
    const tried = { at, eventIds: events.map(({ id }) => id), request };
    try {
      const answer = await this.#post(target, request);
      const error = refusal(answer.status);
      const failed = error === undefined ? {} : { error };
      return { ...tried, status: answer.status, ms: ms(), ...failed, answer };
    } catch (error) {
      return { ...tried, status: null, ms: ms(), error: whyNoAnswer(error, target) };
    }
  }

  /** Sends nothing, and waits for an answer as long as for one of an endpoint. */
  async sendNothing(events: readonly KnownEvent[]): Promise<Sent> {
    const at = this.#clock.now();
    const ms = this.#stopwatch();
    await sleep(this.#clock.real, this.#timeoutMs, this.#cutting.signal);
    const error = `injected fault: nothing was sent; no answer within ${this.#timeoutMs} ms`;
    const eventIds = events.map(({ id }) => id);
    return { at, eventIds, status: null, ms: ms(), error };
  }

  /** Ends every open request; further ones fail. */
  close(): void {
    this.#closed = true;
    this.cut("the platform stopped");
  }

  /** Ends every open request and every wait for an answer, for this reason. */
  cut(why: string): void {
    for (const request of this.#open) request.destroy(new Error(why));
    this.#cutting.abort();
    if (!this.#closed) this.#cutting = new AbortController();
  }

  /** Tells the milliseconds since now, of the machine's clock. */
  #stopwatch(): () => number {
    const { real } = this.#clock;
    const began = real.now();
    return () => real.now() - began;
  }

  /** Resolves as soon as the status is known. */
  #post(url: URL, { headers, body }: SentRequest): Promise<EndpointAnswer> {
    if (this.#closed) return Promise.reject(new Error("the platform stopped"));
    return new Promise((resolve, reject) => {
      const open = url.protocol === "https:" ? httpsRequest : httpRequest;
      // A connection of its own for each delivery: a kept one may be dead by now, and that failure
      // would count against an endpoint which is well.
      const request = open(url, { method: "POST", headers, agent: false });
      // It ends the body of an answer, too.
      const cancel = this.#clock.real.timer(this.#timeoutMs, () => {
        request.destroy(new Error(`no answer within ${this.#timeoutMs} ms`));
      });
      this.#open.add(request);
      request.on("close", () => {
        cancel();
        this.#open.delete(request);
      });
      request.on("error", reject);
      request.on("response", (response) => resolve(new EndpointAnswer(response)));
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
