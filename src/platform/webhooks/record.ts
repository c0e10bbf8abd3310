import type { DeliveryFault } from "../faults/webhook-fault.ts";
import type { Sent } from "./sender.ts";

/** A delivery that was made. */
export interface DeliverySummary {
  /** Such as `dlv_17`; numbers start again with the process. */
  readonly id: string;
  /** Username of the bot that it was made to. */
  readonly bot: string;
  /** In the order in which they were sent. */
  readonly eventIds: readonly string[];
  /** Which try this was, from 1 up. */
  readonly attempt: number;
  /** True for `POST /control/v1/deliveries`. */
  readonly forced: boolean;
  /** When it was sent: ISO 8601, UTC. */
  readonly at: string;
  /** Milliseconds until the answer or the error. */
  readonly ms: number;
  /** The HTTP status of the answer, as the schedule sees it; null when there was none. */
  readonly status: number | null;
  /** Why it failed; absent when it was answered with 200 to 299. */
  readonly error?: string;
  /** The fault that touched it. */
  readonly fault?: DeliveryFault;
}

/** A delivery that was made, with both bodies. */
export interface DeliveryRecord extends DeliverySummary {
  /** As it was sent; null when nothing was. */
  readonly request: RecordedRequest | null;
  /** As it came, also where a fault lost it on the way; null when none came. */
  readonly response: RecordedResponse | null;
}

/** A delivery, as it was sent. */
export interface RecordedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text that was signed, up to 1 MB of it. */
  readonly body: string;
  readonly truncated: boolean;
}

/** What a delivery was answered with. */
export interface RecordedResponse {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Up to 64 KB, read as UTF-8. */
  readonly body: string;
  /** True when it was longer, or broke off. */
  readonly truncated: boolean;
}

/** Puts a record together; the answer has to be collected. */
export function recordOf(summary: DeliverySummary, sent: Sent): DeliveryRecord {
  return { ...summary, request: requestOf(sent), response: responseOf(sent) };
}

function requestOf({ request }: Sent): RecordedRequest | null {
  if (request === undefined) return null;
  const { url, headers, body } = request;
  const truncated = Number(headers["content-length"]) > body.byteLength;
  return { url, headers, body: textOf(body), truncated };
}

function responseOf({ answer }: Sent): RecordedResponse | null {
  if (answer === undefined) return null;
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const { status, body, truncated } = answer;
  return { status, headers: Object.fromEntries(headers), body: textOf(body), truncated };
}

/** Bytes as text: a character that is cut in two at the end is left out. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}
