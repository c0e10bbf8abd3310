import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.ts";
import type { AnyEvent } from "../../events/types.ts";
import { sign } from "../../signature/signature.ts";
import { Connections } from "./connections.ts";
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
  readonly #connections: Connections;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#connections = new Connections(clock, timeoutMs);
  }

  /** Signs and sends once. Never rejects; redirects are not followed. */
  async send({ url, secret, events }: Delivery): Promise<DeliveryResult> {
    const started = this.#clock.now();
    const ms = () => this.#clock.now() - started;
    // Signed and sent are the same bytes; every try is signed with its own time.
    const body = Buffer.from(JSON.stringify({ events }));
    const headers = {
      "content-type": "application/json",
      "content-length": body.byteLength,
      "user-agent": "Service-Webhook/1",
      "x-service-signature": sign(body, secret, started / 1000),
      "x-service-event-count": events.length,
    };
    try {
      const status = await this.#connections.post({ url: new URL(url), headers, body }, statusOf);
      const error = refusal(status);
      return { status, ms: ms(), ...(error === undefined ? {} : { error }) };
    } catch (error) {
      return { status: null, ms: ms(), error: whyNoAnswer(error, new URL(url)) };
    }
  }

  /** Ends every open request; further ones fail. */
  close(): void {
    this.#connections.close();
  }
}

function statusOf(answer: IncomingMessage): number {
  // The body means nothing, and neither does an error while it passes by; the timeout ends it.
  answer.on("error", () => {});
  answer.resume();
  return answer.statusCode ?? 0;
}

/** A failure is any answer that is not 200 to 299 (section 3). */
function refusal(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const redirect = status >= 300 && status <= 399 ? "; redirects are not followed" : "";
  return `answered ${status}${redirect}`;
}
