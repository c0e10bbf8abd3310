import type { BodyBounds } from "../core/body.ts";
import { BodyError } from "../core/body-budget.ts";
import type { Clock } from "../core/clock.ts";
import { isTooComplex, maxEventsIn } from "../core/json-bounds.ts";
import type { Logger } from "../core/logger.ts";
import { newTrace, readTraceparent, TRACEPARENT_HEADER, traceIdOf } from "../core/trace.ts";
import { decodeUtf8 } from "../core/utf8.ts";
import { hasCode, ServiceBotError } from "../errors.ts";
import type { LaneOf } from "../events/lane.ts";
import { readEvents, type WireEvents } from "../events/wire.ts";
import type { Inbox, NewEvent } from "../inbox/inbox.ts";
import { isFromPlatform } from "../inbox/platform-events.ts";
import { batchMessage, readBatch } from "../inbox/read-batch.ts";
import {
  type ChannelMessages,
  channels,
  traced,
  type WorkMessages,
  works,
} from "../observe/channels.ts";
import { PROBE_HEADER, ProbeMarks } from "../signature/probe.ts";
import {
  type RefusedSignature,
  readSignature,
  SIGNATURE_HEADER,
  verifyBody,
} from "../signature/signature.ts";
import {
  type Answer,
  bodyFailure,
  ENCODED,
  encoded,
  failure,
  inboxFull,
  json,
  methodNotAllowed,
  noEvents,
  notReady,
  storeUnavailable,
  tooComplex,
} from "./answer.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { OldSecrets } from "./old-secrets.ts";

/** A request from any server. */
export interface Incoming {
  readonly method: string;
  /** The path without the query or a trailing slash. */
  readonly path: string;
  /** Path below the middleware's mount point in Express. Absent in other servers. */
  readonly mountedPath?: string;
  /** Text after the question mark. Empty if there is no query. */
  readonly query: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /**
   * Reads the raw body within bounds. Reading begins before the call returns.
   *
   * @throws {BodyError}
   */
  read(bounds: BodyBounds): Promise<Uint8Array>;
  /** Discards the body without reading it. */
  drop(): void;
}

export interface ReceiverOptions extends Omit<BodyBounds, "limit"> {
  readonly inbox: Pick<Inbox, "put">;
  /** The webhook's path, such as `/webhook`. */
  readonly path: string;
  /** Maximum size of a body, in bytes. */
  readonly maxBodyBytes: number;
  /** All valid secrets, newest first. */
  readonly secrets: readonly string[];
  readonly laneOf: LaneOf;
  /** Clock with the time of day, for signature timestamps. */
  readonly clock: Clock;
  /** Clock for {@link Receiver.history}. Default `clock`. */
  readonly steady?: Clock;
  readonly log: Logger;
  /**
   * Notified of each stored batch of the platform, even if it contains only duplicates, because a delivery proves that
   * the webhook works.
   */
  readonly fallback?: { delivered(events: readonly NewEvent[]): void } | undefined;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** Responds to requests to the webhook's path. */
export type Webhook = Pick<Receiver, "receive">;

const EVENT_COUNT_HEADER = "x-service-event-count";

/**
 * Responds to deliveries ("Webhook receiver" in section 4 of the platform document, rules in section 6). A 2xx means
 * that the whole batch is on disk. A handler's failure never reaches the sender, because the platform disables a
 * webhook that fails often.
 */
export class Receiver {
  readonly history: DeliveryHistory;
  readonly #options: ReceiverOptions;
  readonly #oldSecrets: OldSecrets;
  readonly #probes = new ProbeMarks();
  #isClosed = false;

  constructor(options: ReceiverOptions) {
    const { log, secrets, clock, steady = clock } = options;
    this.#options = options;
    this.history = new DeliveryHistory(steady);
    this.#oldSecrets = new OldSecrets(log, secrets.length);
  }

  /** Stops acknowledging batches, even a batch that is being stored, because another inbox has replaced this inbox. */
  close(): void {
    this.#isClosed = true;
  }

  /** Returns the response to a webhook request, or `undefined` if the path differs. */
  receive(incoming: Incoming): Promise<Answer> | undefined {
    return isAtWebhook(this.#options.path, incoming) ? this.#receive(incoming) : undefined;
  }

  async #receive(incoming: Incoming): Promise<Answer> {
    if (incoming.method !== "POST") return refuseMethod(incoming);
    const { clock, secrets, maxBodyBytes: limit, budget, timeoutMs } = this.#options;
    const { headers } = incoming;
    // Check the header before reading the body, so that unauthenticated senders cannot make the bot read a body.
    const head = readSignature(headers[SIGNATURE_HEADER], clock.now());
    if (!head.ok) {
      incoming.drop();
      return await this.#refuseSignature(head, headers);
    }
    let body: Uint8Array;
    try {
      body = await incoming.read({ limit, budget, timeoutMs });
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      return this.#refuse(bodyFailure(error.problem, limit));
    }
    const startedAt = clock.now();
    const verdict = verifyBody(body, head, { secrets, now: startedAt });
    if (!verdict.ok) return await this.#refuseSignature(verdict, headers);
    this.#oldSecrets.note(verdict.secretIndex, startedAt);
    // Read the trace header only after checking the signature. The header itself is not signed, and an attacker could
    // use it to add spans to other traces.
    const parent = readTraceparent(headers[TRACEPARENT_HEADER]);
    const signed = { headers, body, startedAt, secret: secrets[verdict.secretIndex] };
    return await this.#trace(parent, (work) =>
      this.#accept({ ...signed, trace: work?.trace ?? parent ?? newTrace(), work }),
    );
  }

  /** Stores the events of a delivery with a valid signature. */
  async #accept(delivery: SignedDelivery): Promise<Answer> {
    const { headers, body, startedAt, trace } = delivery;
    if (isTooComplex(body, maxEventsIn(body))) return this.#refuse(tooComplex);
    const wire = readBody(body);
    if (wire === undefined) return this.#refuse(isEncoded(headers) ? encoded : noEvents);
    this.#checkCount(headers[EVENT_COUNT_HEADER], wire.events.length);
    try {
      return await this.#store(wire, delivery);
    } catch (error) {
      const answer = hasCode(error, "INBOX_FULL") ? inboxFull : storeUnavailable;
      const ms = this.#options.clock.now() - startedAt;
      return this.#refuse(answer, { ms, error, trace: traceIdOf(trace) });
    }
  }

  async #store(
    wire: WireEvents,
    { startedAt, secret, trace, work }: SignedDelivery,
  ): Promise<Answer> {
    const { bot, inbox, laneOf, clock } = this.#options;
    const batch = readBatch(wire.events, laneOf, wire.texts);
    this.#requireOpen();
    const result = await inbox.put(batch, "webhook", [], trace);
    this.#requireOpen();
    if (isFromPlatform(batch)) {
      this.history.noteStored(secret);
      this.#notifyFallback(batch);
    }
    const message = batchMessage(bot, "webhook", batch, result, trace);
    if (work !== undefined) work.batch = message;
    channels.batch.publish(message);
    const ms = clock.now() - startedAt;
    channels.delivery.publish({ bot, status: 200, ms, batch: message, trace: message.trace });
    return json(200, { stored: result.stored.length, duplicates: result.duplicates });
  }

  /** Only warns about a mismatch, because the header is not signed and nothing depends on it. */
  #checkCount(header: string | readonly string[] | undefined, events: number): void {
    const announced = readCount(header);
    if (announced === undefined || announced === events) return;
    this.#options.log.warn(
      { announced, events },
      "X-Service-Event-Count differs from the number of events in the body",
    );
  }

  #refuseSignature(
    { status, code, message }: RefusedSignature,
    headers: Incoming["headers"],
  ): Promise<Answer> {
    const hint = code === "SIGNATURE_MISMATCH" && isEncoded(headers) ? ` ${ENCODED}` : "";
    const answer = failure(status, code, message + hint);
    if (this.#isProbe(headers)) return Promise.resolve(this.#refuse(answer, { isProbe: true }));
    return this.#trace(undefined, async () => this.#refuse(answer));
  }

  /** Returns whether the doctor sent a forged request. */
  #isProbe(headers: Incoming["headers"]): boolean {
    const { secrets, clock } = this.#options;
    return this.#probes.accept(headers[PROBE_HEADER], headers[SIGNATURE_HEADER], {
      secrets,
      now: clock.now(),
    });
  }

  /** Publishes a response other than 2xx. */
  #refuse(
    answer: Answer,
    about: Pick<ChannelMessages["delivery"], "ms" | "error" | "trace" | "isProbe"> = {},
  ): Answer {
    const { status, error: { code, message: reason } = {} } = answer;
    if (about.isProbe !== true) this.history.noteRefused(status, code);
    channels.delivery.publish({ bot: this.#options.bot, status, code, reason, ...about });
    return answer;
  }

  /** @param parent trace that the delivery belongs to */
  #trace(
    parent: string | undefined,
    work: (message: WorkMessages["delivery"] | undefined) => Promise<Answer>,
  ): Promise<Answer> {
    if (!works.delivery.hasSubscribers) return work(undefined);
    const message = () => ({ bot: this.#options.bot, trace: parent });
    return traced(works.delivery, message, async (delivery) => {
      const answer = await work(delivery);
      if (delivery !== undefined) {
        delivery.status = answer.status;
        delivery.error = answer.error;
      }
      return answer;
    });
  }

  #requireOpen(): void {
    if (!this.#isClosed) return;
    throw new ServiceBotError("STORE_UNAVAILABLE", "The bot has closed its inbox.");
  }

  /** Notifies the poller. A failure is only logged, because the batch is already stored. */
  #notifyFallback(batch: readonly NewEvent[]): void {
    try {
      this.#options.fallback?.delivered(batch);
    } catch (err) {
      this.#options.log.error({ err }, "the poller failed to process a delivery");
    }
  }
}

/** A delivery with a valid signature. */
interface SignedDelivery {
  readonly headers: Incoming["headers"];
  readonly body: Uint8Array;
  /** Time when the body was complete. */
  readonly startedAt: number;
  /** The secret that signed the delivery. */
  readonly secret: string | undefined;
  readonly trace: string;
  readonly work: WorkMessages["delivery"] | undefined;
}

/** Responds to deliveries with 503 until the bot has started. */
export function beforeStart(path: string): Webhook {
  return {
    receive(incoming) {
      if (!isAtWebhook(path, incoming)) return undefined;
      if (incoming.method !== "POST") return Promise.resolve(refuseMethod(incoming));
      incoming.drop();
      return Promise.resolve(notReady);
    },
  };
}

function isAtWebhook(webhook: string, { path, mountedPath }: Incoming): boolean {
  return path === webhook || mountedPath === webhook;
}

function refuseMethod(incoming: Incoming): Answer {
  incoming.drop();
  return methodNotAllowed("POST");
}

/** Parses a body. Returns `undefined` unless it has the form `{"events":[…]}`. */
function readBody(body: Uint8Array): WireEvents | undefined {
  try {
    return readEvents(decodeUtf8(body));
  } catch {
    return undefined;
  }
}

function isEncoded({ "content-encoding": coding = "" }: Incoming["headers"]): boolean {
  return coding !== "" && coding !== "identity";
}

/** Parses `X-Service-Event-Count`. Returns `undefined` if the header is absent, duplicated or not a number. */
function readCount(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === "string" && /^[0-9]{1,15}$/.test(header) ? Number(header) : undefined;
}
