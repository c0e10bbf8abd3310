import type { AnyEvent } from "../../events/types.ts";
import { sign } from "../../signature/signature.ts";

/** Where deliveries go, and what signs them. */
export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

/** What is delivered. */
export interface Content {
  readonly body: Buffer;
  /** Those that the record names. */
  readonly eventIds: readonly string[];
  /** What `X-Service-Event-Count` says. */
  readonly events: number;
}

/** A request to an endpoint. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The very bytes that were signed and sent. */
  readonly body: Buffer;
}

export function contentOf(events: readonly AnyEvent[]): Content {
  const body = Buffer.from(JSON.stringify({ events }));
  return { body, eventIds: events.map(({ id }) => id), events: events.length };
}

/**
 * A delivery as it goes out (section 5). Signed and sent are the same bytes.
 *
 * @param at when it is signed, in milliseconds since 1970
 */
export function signedRequest(
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
