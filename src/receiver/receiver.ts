import type { Clock } from "../core/clock.ts";
import { parseJson } from "../core/json.ts";
import type { Logger } from "../core/logger.ts";
import { type Observer, unobserved } from "../core/observer.ts";
import { newTrace, readTraceparent, traceIdOf } from "../core/trace.ts";
import { inSpan, type Span, type SpanStart, type Tracing } from "../core/tracing.ts";
import { ServiceBotError } from "../errors.ts";
import type { LaneOf } from "../events/lane.ts";
import type { Inbox, NewEvent, PutResult } from "../inbox/inbox.ts";
import { readBatch } from "../inbox/intake.ts";
import { batchAttributes, messaging } from "../inbox/span-attributes.ts";
import { readSignature, type Verdict, verify } from "../signature/signature.ts";
import { type Answer, failure, json } from "./answer.ts";
import { readEventCount } from "./event-count.ts";
import { OldSecretNotice } from "./old-secret-notice.ts";

export interface ReceiverOptions {
  readonly inbox: Pick<Inbox, "put">;
  /** Every secret that is valid now, the newest first. */
  readonly secrets: readonly string[];
  readonly laneOf: LaneOf;
  readonly clock: Clock;
  /** What dates `lastDeliveryAt`; `clock` by default, which follows the system's time. */
  readonly steady?: Clock;
  readonly log: Logger;
  /** Called with each batch once it is stored, duplicates included: the webhook's sign of life. */
  readonly onDelivery?: (events: readonly NewEvent[]) => void;
  readonly tracing?: Tracing | undefined;
  readonly observer?: Observer | undefined;
}

/** A request to the webhook, with the body as the bytes that were sent. */
export interface DeliveryRequest {
  readonly body: Uint8Array;
  /** The value of `X-Service-Signature`. */
  readonly signature: string | readonly string[] | undefined;
  /** The value of `X-Service-Event-Count`. */
  readonly eventCount?: string | readonly string[] | undefined;
  /** The value of `traceparent`: who sent it may trace, too. */
  readonly traceparent?: string | readonly string[] | undefined;
}

const SPAN: SpanStart = {
  name: "receive",
  kind: "consumer",
  attributes: { ...messaging("receive", "receive"), "http.request.method": "POST" },
};

/** What is known of a delivery before it is read. */
interface Arrival {
  readonly started: number;
  /** The trace that its sender has named. */
  readonly parent: string | undefined;
  readonly span: Span | undefined;
}

const NO_BYTES = new Uint8Array();

/** When the store is away, the sender is asked to wait this long, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Bytes and headers in, an answer out ("Webhook receiver" in section 4, rules in section 6 of the
 * platform document). Knows no HTTP server; express, node:http and fetch are faces in front of it.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #observer: Observer;
  #lastDeliveryAt: number | undefined;
  #closed = false;
  readonly #oldSecrets: OldSecretNotice;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#observer = options.observer ?? unobserved;
    this.#oldSecrets = new OldSecretNotice(options.log, options.secrets.length);
  }

  /** When the last batch was stored, duplicates and empty ones included; in milliseconds since 1970. */
  get lastDeliveryAt(): number | undefined {
    return this.#lastDeliveryAt;
  }

  /** From now on nothing is acknowledged, also of what is being stored: nobody would handle it there. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Verifies, reads and stores one delivery. A 2xx is answered only once the batch is on disk; what
   * the handlers make of it never reaches the sender, for enough failures disable the webhook.
   */
  async receive(request: DeliveryRequest): Promise<Answer> {
    const { secrets, clock } = this.#options;
    const started = clock.now();
    const verdict = verify(request.body, request.signature, { secrets, now: started });
    return await this.#inSpan(request, verdict, started);
  }

  /**
   * Refuses a delivery by its signature header: missing, malformed or stale. Strangers can thus not make the bot read
   * a body. Returns `undefined`, without waiting, if the body is to be read.
   */
  refuseUnread(signature: DeliveryRequest["signature"]): Promise<Answer> | undefined {
    const started = this.#options.clock.now();
    const head = readSignature(signature, started);
    return head.ok ? undefined : this.#inSpan({ body: NO_BYTES, signature }, head, started);
  }

  async #inSpan(request: DeliveryRequest, verdict: Verdict, started: number): Promise<Answer> {
    // The header is not signed: of a stranger it would put spans into others' traces.
    const parent = verdict.ok ? readTraceparent(request.traceparent) : undefined;
    const start = () => ({ ...SPAN, parent });
    return await inSpan(this.#options.tracing, start, async (span) => {
      const answer = await this.#answer(request, verdict, { started, parent, span });
      span?.set({ "http.response.status_code": answer.status });
      if (answer.error !== undefined) span?.fail(answer.error);
      return answer;
    });
  }

  async #answer(
    request: DeliveryRequest,
    verdict: Verdict,
    { started, parent, span }: Arrival,
  ): Promise<Answer> {
    if (!verdict.ok) return this.refuse(failure(verdict.status, verdict.code, verdict.message));
    const { clock, laneOf } = this.#options;
    this.#oldSecrets.signedWith(verdict.secretIndex, started);
    const trace = span?.trace ?? parent ?? newTrace();
    const events = readEvents(request.body);
    if (events === undefined) {
      return this.refuse(
        failure(400, "BODY_INVALID", 'The body must be JSON of the form {"events":[…]}.'),
      );
    }
    this.#compareCount(request.eventCount, events.length);
    try {
      const batch = readBatch(events, laneOf);
      this.#requireOpen();
      const result = await this.#options.inbox.put(batch, "webhook", [], trace);
      this.#requireOpen();
      this.#lastDeliveryAt = (this.#options.steady ?? clock).now();
      this.#tell(batch);
      span?.set(batchAttributes(events.length, result));
      this.#observer.arrived("webhook", batch, result);
      return this.#accept(events.length, result, started, trace);
    } catch (error) {
      return this.#unavailable(error, started, trace);
    }
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new ServiceBotError("STORE_UNAVAILABLE", "The bot must not use its inbox any more.");
  }

  /** The header is not signed and nothing depends on it: events that are here count, whatever it says. */
  #compareCount(header: DeliveryRequest["eventCount"], events: number): void {
    const announced = readEventCount(header);
    if (announced === undefined || announced === events) return;
    this.#options.log.warn({ announced, events }, "X-Service-Event-Count disagrees with the body");
  }

  /** What an observer throws must not make a failure of a batch that is stored. */
  #tell(batch: readonly NewEvent[]): void {
    try {
      this.#options.onDelivery?.(batch);
    } catch (err) {
      this.#options.log.error({ err }, "an observer of deliveries failed");
    }
  }

  /** Logs an answer that is not 2xx: what senders do wrong as a warning, what we do as an error. */
  refuse(answer: Answer): Answer {
    const { status, error: { code, message: reason } = {} } = answer;
    const level = status < 500 ? "warn" : "error";
    this.#options.log[level]({ status, code, reason }, "delivery refused");
    this.#observer.answered(status, code, undefined);
    return answer;
  }

  #accept(events: number, result: PutResult, started: number, trace: string): Answer {
    const { log, clock } = this.#options;
    const { duplicates, unusable } = result;
    const stored = result.stored.length;
    const ms = clock.now() - started;
    const line = { status: 200, events, stored, duplicates, unusable, ms, trace: traceIdOf(trace) };
    this.#observer.answered(200, undefined, ms);
    if (unusable > 0)
      log.error(line, "delivery with events that cannot be handled: see the dead letters");
    else log.info(line, "delivery");
    return json(200, { stored, duplicates });
  }

  #unavailable(error: unknown, started: number, trace: string): Answer {
    this.#options.log.error(
      { status: 503, err: error, trace: traceIdOf(trace) },
      "delivery cannot be stored",
    );
    const full = error instanceof ServiceBotError && error.code === "INBOX_FULL";
    const message = full
      ? "Too many events are waiting to be handled."
      : "The delivery cannot be stored now.";
    const headers = { "retry-after": String(RETRY_AFTER_SECONDS) };
    const code = full ? "INBOX_FULL" : "STORE_UNAVAILABLE";
    this.#observer.answered(503, code, this.#options.clock.now() - started);
    return failure(503, code, message, headers);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The elements of `events`, or undefined when the body is anything but `{events: []}`. */
function readEvents(body: Uint8Array): readonly unknown[] | undefined {
  try {
    const parsed = parseJson(utf8.decode(body));
    if (typeof parsed !== "object" || parsed === null || !("events" in parsed)) return undefined;
    return Array.isArray(parsed.events) ? parsed.events : undefined;
  } catch {
    return undefined;
  }
}
