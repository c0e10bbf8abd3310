import type { Clock } from "../core/clock.ts";
import { parseJson } from "../core/json.ts";
import type { Logger } from "../core/logger.ts";
import { newTrace, readTraceparent, traceIdOf } from "../core/trace.ts";
import { ServiceBotError } from "../errors.ts";
import type { LaneOf } from "../events/lane.ts";
import type { Inbox, NewEvent } from "../inbox/inbox.ts";
import { batchMessage, readBatch } from "../inbox/intake.ts";
import {
  type BatchMessage,
  channels,
  traced,
  type WorkMessages,
  works,
} from "../observe/channels.ts";
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
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
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

/** Facts of a delivery from before its body is read. */
interface Arrival {
  readonly started: number;
  /** Trace that its sender has named. */
  readonly parent: string | undefined;
  readonly work: WorkMessages["delivery"] | undefined;
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
  #lastDeliveryAt: number | undefined;
  #closed = false;
  readonly #oldSecrets: OldSecretNotice;

  constructor(options: ReceiverOptions) {
    this.#options = options;
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
    // The header is not signed, and a stranger must not put spans into traces of others.
    const parent = verdict.ok ? readTraceparent(request.traceparent) : undefined;
    const { bot } = this.#options;
    const message = () => ({ bot, trace: parent });
    return await traced(works.delivery, message, async (work) => {
      const answer = await this.#answer(request, verdict, { started, parent, work });
      if (work !== undefined) {
        work.status = answer.status;
        work.error = answer.error;
      }
      return answer;
    });
  }

  async #answer(
    request: DeliveryRequest,
    verdict: Verdict,
    { started, parent, work }: Arrival,
  ): Promise<Answer> {
    if (!verdict.ok) return this.refuse(failure(verdict.status, verdict.code, verdict.message));
    const { clock, laneOf, bot } = this.#options;
    this.#oldSecrets.signedWith(verdict.secretIndex, started);
    const trace = work?.trace ?? parent ?? newTrace();
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
      const message = batchMessage(bot, "webhook", batch, result, trace);
      if (work !== undefined) work.batch = message;
      channels.batch.publish(message);
      return this.#accept(message, started);
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

  /** Publishes an answer that is not 2xx. */
  refuse(answer: Answer): Answer {
    const { status, error: { code, message: reason } = {} } = answer;
    channels.delivery.publish({ bot: this.#options.bot, status, code, reason });
    return answer;
  }

  #accept(batch: BatchMessage, started: number): Answer {
    const { clock, bot } = this.#options;
    const { stored, duplicates, trace } = batch;
    const ms = clock.now() - started;
    channels.delivery.publish({ bot, status: 200, ms, batch, trace });
    return json(200, { stored: stored.length, duplicates });
  }

  #unavailable(error: unknown, started: number, stored: string): Answer {
    const full = error instanceof ServiceBotError && error.code === "INBOX_FULL";
    const reason = full
      ? "Too many events are waiting to be handled."
      : "The delivery cannot be stored now.";
    const headers = { "retry-after": String(RETRY_AFTER_SECONDS) };
    const code = full ? "INBOX_FULL" : "STORE_UNAVAILABLE";
    const { clock, bot } = this.#options;
    const ms = clock.now() - started;
    const trace = traceIdOf(stored);
    channels.delivery.publish({ bot, status: 503, code, reason, ms, error, trace });
    return failure(503, code, reason, headers);
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
