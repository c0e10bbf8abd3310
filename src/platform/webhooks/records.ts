import { idOf, seqOf } from "../store/ids.ts";
import type { Window } from "../store/rows.ts";
import type { DeliveryFault } from "../timeline/entries.ts";
import {
  Bounded,
  firstBytes,
  MAX_RECORDS,
  RECORD_BYTES,
  type RecordedRequest,
  type RecordedResponse,
  textBytes,
  textOf,
} from "../timeline/recorded.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { DeliveryAttempt } from "./sender.ts";
import type { EndpointAnswer } from "./transport.ts";

/** A completed delivery. */
export interface DeliverySummary {
  /** For example `dlv_17`. The numbers start again at 1 when the process restarts. */
  readonly id: string;
  /** Username of the receiving bot. */
  readonly bot: string;
  /** Event ids, in delivery order. */
  readonly eventIds: readonly string[];
  /** Attempt number, starting at 1. */
  readonly attempt: number;
  /** True for `POST /control/v1/deliveries`. */
  readonly forced: boolean;
  /** Time of sending. ISO 8601, UTC. */
  readonly at: string;
  /** Time until the response or the error, in ms. */
  readonly ms: number;
  /** HTTP status of the response, as counted by the schedule. `null` if there was no response. */
  readonly status: number | null;
  /** Reason for the failure. Omitted if the status is 200 to 299. */
  readonly error?: string;
  /** The fault that affected the delivery. */
  readonly fault?: DeliveryFault;
}

/** A completed delivery with its request and response bodies. */
export interface DeliveryRecord extends DeliverySummary {
  /** The request as sent. `null` if no request was sent. */
  readonly request: RecordedRequest | null;
  /** The response as received, even if a fault then dropped it. `null` if there was no response. */
  readonly response: RecordedResponse | null;
}

/** The response must have been read to its end. */
function recordOf(summary: DeliverySummary, sent: DeliveryAttempt): DeliveryRecord {
  return { ...summary, request: requestOf(sent), response: responseOf(sent) };
}

function requestOf({ request }: DeliveryAttempt): RecordedRequest | null {
  if (request === undefined) return null;
  const { url, headers, body } = request;
  const truncated = Number(headers["content-length"]) > body.byteLength;
  return { url, headers, body: textOf(body), truncated };
}

function responseOf({ answer }: DeliveryAttempt): RecordedResponse | null {
  if (answer === undefined) return null;
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const { status, body, truncated } = answer;
  return { status, headers: Object.fromEntries(headers), body: textOf(body), truncated };
}

/** Maximum number of bytes to keep of each request body. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** Details that only the caller knows: the schedule or the control API. */
export interface DeliveryContext {
  readonly bot: string;
  readonly attempt: number;
  readonly forced: boolean;
}

interface StoredDelivery {
  readonly summary: DeliverySummary;
  readonly sent: DeliveryAttempt;
}

export class DeliveryRecords {
  readonly #timeline: Timeline;
  readonly #deliveries = new Bounded<StoredDelivery>(MAX_RECORDS);
  #last = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Records a delivery here and in the timeline. Returns its id. */
  add({ bot, attempt, forced }: DeliveryContext, sent: DeliveryAttempt): string {
    this.#last += 1;
    const id = idOf("dlv", this.#last);
    const { eventIds, status, ms, at } = sent;
    const error = sent.error === undefined ? {} : { error: sent.error };
    const fault = sent.fault === undefined ? {} : { fault: sent.fault };
    const result = { status, ms, ...error, ...fault };
    const made = { bot, eventIds, attempt, forced, at: new Date(at).toISOString() };
    this.#keep(this.#last, { summary: { id, ...made, ...result }, sent: shortened(sent) });
    this.#timeline.add({ kind: "delivery", id, bot, eventIds, attempt, forced, ...result });
    return id;
  }

  /** Returns a bot's deliveries with numbers below `before`, newest first. */
  page(bot: string, { before, limit }: Window): DeliverySummary[] {
    const found: DeliverySummary[] = [];
    for (let seq = Math.min(before - 1, this.#last); found.length < limit; seq -= 1) {
      const kept = this.#deliveries.get(seq);
      if (kept === undefined) break;
      if (kept.summary.bot === bot) found.push(kept.summary);
    }
    return found;
  }

  holding(eventId: string): DeliverySummary[] {
    const all = this.#deliveries.all().map(({ summary }) => summary);
    return all.filter(({ eventIds }) => eventIds.includes(eventId));
  }

  /** Returns a delivery's full record. Waits until the rest of its response has arrived. */
  async find(id: string): Promise<DeliveryRecord | undefined> {
    const kept = this.#deliveries.get(seqOf("dlv", id) ?? 0);
    if (kept === undefined) return undefined;
    const { summary, sent } = kept;
    await sent.answer?.collected;
    return recordOf(summary, sent);
  }

  #keep(seq: number, kept: StoredDelivery): void {
    const { request, answer, eventIds } = kept.sent;
    const headers = [...headersOf(request), ...headersOf(answer)];
    const texts = [request?.url, ...eventIds, ...headers];
    const bytes = RECORD_BYTES + (request?.body.byteLength ?? 0) + textBytes(texts);
    this.#deliveries.add(seq, kept, bytes);
    void answer?.collected.then(() => this.#deliveries.grow(seq, answer.bytes));
  }
}

function headersOf(sent: Pick<EndpointAnswer, "headers"> | undefined) {
  return Object.entries(sent?.headers ?? {}).flat(2);
}

function shortened(sent: DeliveryAttempt): DeliveryAttempt {
  const { request } = sent;
  if (request === undefined) return sent;
  const body = firstBytes(request.body, MAX_REQUEST_BYTES);
  return { ...sent, request: { ...request, body } };
}
