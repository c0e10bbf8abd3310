import { sleep } from "../../core/clock.ts";
import { sign } from "../../signature/signature.ts";
import type { PlatformClock } from "../clock.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import type { DeliveryFault } from "../timeline/entries.ts";
import { whyNoAnswer } from "./no-answer.ts";
import { Connections, EndpointAnswer, InProcess, type Transport } from "./transport.ts";

/** A delivery's result. */
export interface DeliveryResult {
  /** HTTP status of the response. `null` if there was no response. */
  readonly status: number | null;
  /** Time until the response or the error, in ms. */
  readonly ms: number;
  /** Reason for the failure. Omitted if the status is 200 to 299. */
  readonly error?: string;
}

export interface DeliveryAttempt extends DeliveryResult {
  /** Time of sending, in ms since 1970. */
  readonly at: number;
  readonly eventIds: readonly string[];
  readonly request?: SentRequest;
  readonly answer?: EndpointAnswer;
  readonly fault?: DeliveryFault;
}

/** Sends the platform's requests to endpoints (section 4 of the platform document, "Webhook receiver"). */
export class Sender {
  readonly #clock: PlatformClock;
  readonly #timeoutMs: number;
  readonly #transport: Transport;
  #cutting = new AbortController();
  #closed = false;

  /** @param fetch default: connections over the network */
  constructor(
    clock: PlatformClock,
    timeoutMs: number,
    fetch?: (request: Request) => Promise<Response>,
  ) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#transport =
      fetch === undefined
        ? new Connections(clock.real, timeoutMs)
        : new InProcess(fetch, clock.real, timeoutMs);
  }

  /** Signs and sends events once. Never rejects. Does not follow redirects. */
  send(endpoint: Endpoint, events: readonly LoggedEvent[]): Promise<DeliveryAttempt> {
    return this.sendContent(endpoint, contentOf(events));
  }

  /** Returns a delivery's request without sending it. `at` is the signature's time, in ms since 1970. */
  prepare(
    endpoint: Endpoint,
    content: Content,
  ): { readonly at: number; readonly request: SentRequest } {
    const at = this.#clock.now();
    return { at, request: signedRequest(endpoint, content, at) };
  }

  /** Signs and sends content once, as {@link send} does. Each attempt has its own timestamp. */
  async sendContent(endpoint: Endpoint, content: Content): Promise<DeliveryAttempt> {
    const ms = this.#stopwatch();
    const { at, request } = this.prepare(endpoint, content);
    const { headers, body } = request;
    const target = new URL(request.url);
    const tried = { at, eventIds: content.eventIds, request };
    try {
      const answer = new EndpointAnswer(await this.#transport.post({ url: target, headers, body }));
      const error = statusError(answer.status);
      const failed = error === undefined ? {} : { error };
      return { ...tried, status: answer.status, ms: ms(), ...failed, answer };
    } catch (error) {
      return { ...tried, status: null, ms: ms(), error: whyNoAnswer(error, target) };
    }
  }

  /** Sends nothing, and waits until a delivery would time out. */
  async sendNothing(events: readonly LoggedEvent[]): Promise<DeliveryAttempt> {
    const at = this.#clock.now();
    const ms = this.#stopwatch();
    await sleep(this.#clock.real, this.#timeoutMs, this.#cutting.signal);
    const error = `injected fault: not sent; no response within ${this.#timeoutMs} ms`;
    const eventIds = events.map(({ id }) => id);
    return { at, eventIds, status: null, ms: ms(), error };
  }

  close(): void {
    this.#closed = true;
    this.#transport.close();
    this.#cutting.abort();
  }

  /** Cancels every open request and every wait for a response, with this reason. */
  cut(why: string): void {
    this.#transport.cut(why);
    this.#cutting.abort();
    if (!this.#closed) this.#cutting = new AbortController();
  }

  #stopwatch(): () => number {
    const { real } = this.#clock;
    const began = real.now();
    return () => real.now() - began;
  }
}

/** Returns an error message for a status outside 200 to 299 (section 3 of the platform document). */
function statusError(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const redirect = status >= 300 && status <= 399 ? "; the platform does not follow redirects" : "";
  return `responded with ${status}${redirect}`;
}

export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

export interface Content {
  readonly body: Buffer;
  readonly eventIds: readonly string[];
  readonly events: number;
}

export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes that were signed and sent. */
  readonly body: Buffer;
}

export function contentOf(events: readonly LoggedEvent[]): Content {
  const body = Buffer.from(`{"events":[${events.map(({ json }) => json).join(",")}]}`);
  return { body, eventIds: events.map(({ id }) => id), events: events.length };
}

/**
 * Returns a delivery's signed request (section 5 of the platform document).
 *
 * @param at the signature's time, in ms since 1970
 */
function signedRequest(
  { url, secret }: Endpoint,
  { body, events }: Content,
  at: number,
): SentRequest {
  const headers = {
    host: new URL(url).host,
    "content-type": "application/json",
    "content-length": String(body.byteLength),
    "user-agent": "Service-Webhook/1",
    "x-service-signature": sign(body, secret, at / 1000),
    "x-service-event-count": String(events),
  };
  return { url, headers, body };
}
