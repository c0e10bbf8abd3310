import type { TracingChannel } from "node:diagnostics_channel";
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Logger } from "../core/logger.ts";
import { version } from "../core/manifest.ts";
import { spanIn, traceIdOf, traceOf } from "../core/trace.ts";
import { tryRead } from "../errors.ts";
import { type BatchMessage, type RunOutcome, type WorkMessages, works } from "./channels.ts";

/** Must not contain secrets or users' text. */
type OptionalAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Creates spans for the bot's work. The application's SDK samples and exports them.
 *
 * @returns a function that stops tracing
 */
export function startTracing(bot: object, log: Logger): () => void {
  const tracer = trace.getTracer("service-bot", version());
  // This span is never ended, so no SDK exports it.
  const probe = tracer.startSpan("probe", {}, ROOT_CONTEXT);
  if (!isSpanContextValid(probe.spanContext())) {
    log.warn(
      "TRACING is on but no OpenTelemetry SDK is set up; start the bot with node --import ./tracing.ts",
    );
  }
  const spans = new SpanMaker(bot, tracer);
  const ends = [
    spans.follow(works.delivery, deliverySpan),
    spans.follow(works.page, pageSpan),
    spans.follow(works.run, runSpan),
    spans.follow(works.step, stepSpan),
    spans.follow(works.request, requestSpan),
  ];
  return () => {
    for (const end of ends) end();
  };
}

interface SpanShape<M> {
  readonly kind: "INTERNAL" | "CLIENT" | "CONSUMER";
  readonly name: (message: M) => string;
  /** True if the active span must not become the parent. */
  readonly isDetached?: boolean;
  readonly atStart: (message: M) => OptionalAttributes;
  readonly atEnd: (message: M) => OptionalAttributes;
  readonly isSkipped?: (message: M) => boolean;
  readonly isDropped?: (message: M) => boolean;
}

type Message = WorkMessages[keyof WorkMessages];

class SpanMaker {
  readonly #bot: object;
  readonly #tracer: Tracer;
  readonly #spans = new WeakMap<object, Span>();

  constructor(bot: object, tracer: Tracer) {
    this.#bot = bot;
    this.#tracer = tracer;
  }

  /** Returns a function that unsubscribes. */
  follow<M extends Message>(channel: TracingChannel<unknown, M>, shape: SpanShape<M>): () => void {
    // Node would end the process if a subscriber threw, even if only the SDK is broken.
    const start = (message: unknown) => tryRead(() => this.#start(message as M, shape));
    const asyncEnd = (message: unknown) => tryRead(() => this.#end(message as M, shape));
    channel.start.subscribe(start);
    channel.asyncEnd.subscribe(asyncEnd);
    return () => {
      channel.start.unsubscribe(start);
      channel.asyncEnd.unsubscribe(asyncEnd);
    };
  }

  #start<M extends Message>(message: M, shape: SpanShape<M>): void {
    if (message.bot !== this.#bot || shape.isSkipped?.(message) === true) return;
    const parent = this.#parentOf(message.trace, shape.isDetached === true);
    const attributes = defined(shape.atStart(message));
    const options = { kind: SpanKind[shape.kind], attributes };
    const span = this.#tracer.startSpan(shape.name(message), options, parent);
    this.#spans.set(message, span);
    message.around = (work) => context.with(trace.setSpan(parent, span), work);
    const address = span.spanContext();
    if (isSpanContextValid(address)) message.trace = traceOf(address);
  }

  #end<M extends Message>(message: M, shape: SpanShape<M>): void {
    const span = this.#spans.get(message);
    // A span that is never ended is never exported.
    if (span === undefined || shape.isDropped?.(message) === true) return;
    span.setAttributes(defined(shape.atEnd(message)));
    if (message.error !== undefined) {
      const type = typeOf(message.error);
      span.setAttribute("error.type", type);
      // Omit the error's message, because it may quote users' text.
      span.setStatus({ code: SpanStatusCode.ERROR, message: type });
    }
    span.end();
  }

  /** An active span in this process takes precedence over the stored trace. */
  #parentOf(stored: string | undefined, isDetached: boolean): Context {
    const current = isDetached ? ROOT_CONTEXT : context.active();
    const address = spanIn(stored);
    if (address === undefined || trace.getSpan(current) !== undefined) return current;
    return trace.setSpanContext(current, { ...address, isRemote: true });
  }
}

const deliverySpan: SpanShape<WorkMessages["delivery"]> = {
  kind: "CONSUMER",
  name: () => "receive",
  atStart: () => ({ ...messaging("receive", "receive"), "http.request.method": "POST" }),
  atEnd: ({ status, batch }) => ({ "http.response.status_code": status, ...batchOf(batch) }),
};

const pageSpan: SpanShape<WorkMessages["page"]> = {
  kind: "CONSUMER",
  name: () => "poll",
  isDetached: true,
  atStart: () => messaging("poll", "receive"),
  atEnd: ({ batch }) => batchOf(batch),
  // Most pages contain nothing new.
  isDropped: ({ batch }) => batch?.stored.length === 0,
};

export const spanOutcomes: Readonly<Record<RunOutcome, string>> = {
  done: "done",
  retry: "failed",
  release: "released",
  dead: "dead",
  skipped: "skipped",
  lost: "lost",
};

const runSpan: SpanShape<WorkMessages["run"]> = {
  kind: "CONSUMER",
  name: ({ type }) => `process ${type}`,
  isDetached: true,
  atStart: ({ event, type, lane, attempt, source, late, trace }) => ({
    ...messaging("process", "process"),
    "messaging.message.id": event,
    "service_bot.event.type": type,
    "service_bot.lane": lane,
    "service_bot.attempt": attempt,
    "service_bot.source": source,
    "service_bot.late": late,
    // An event stored without tracing gets a new trace. This attribute links it to the trace id in the log.
    "service_bot.trace": spanIn(trace) === undefined ? traceIdOf(trace) : undefined,
  }),
  atEnd: ({ outcome }) => ({ "service_bot.outcome": outcome && spanOutcomes[outcome] }),
  isDropped: ({ outcome }) => outcome === "skipped",
};

const stepSpan: SpanShape<WorkMessages["step"]> = {
  kind: "INTERNAL",
  name: ({ step }) => `step ${step}`,
  atStart: ({ step }) => ({ "service_bot.step": step }),
  atEnd: ({ outcome }) => ({ "service_bot.step.outcome": outcome }),
};

const requestSpan: SpanShape<WorkMessages["request"]> = {
  kind: "CLIENT",
  name: ({ method, template }) => `${method} ${template}`,
  // Omit the URL, because it contains names and search terms.
  atStart({ method, template, baseUrl, number }) {
    const { hostname, port, protocol } = new URL(baseUrl);
    return {
      "http.request.method": method,
      "url.template": template,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "http:" ? 80 : 443),
      "http.request.resend_count": number === 1 ? undefined : number - 1,
    };
  },
  atEnd: ({ status }) => ({ "http.response.status_code": status }),
  // The bot's own reads of the event log are mostly empty.
  isSkipped: ({ kind }) => kind !== "read" && kind !== "write",
};

/** Messaging attributes from OpenTelemetry's semantic conventions. */
function messaging(operation: string, type: "receive" | "process"): OptionalAttributes {
  return {
    "messaging.system": "service_bot",
    "messaging.operation.name": operation,
    "messaging.operation.type": type,
  };
}

function batchOf(batch: BatchMessage | undefined): OptionalAttributes {
  if (batch === undefined) return {};
  return {
    "messaging.batch.message_count": batch.events.length,
    "service_bot.stored": batch.stored.length,
    "service_bot.duplicates": batch.duplicates,
    "service_bot.unusable": batch.unusable,
  };
}

/** Matches an error code or class name, but not a sentence. */
const PLAIN = /^[\w.:-]{1,64}$/;

function typeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return typeof error;
  const words = [
    tryRead(() => Reflect.get(error, "code")),
    tryRead(() => Reflect.get(error, "name")),
  ];
  const plain = words.find((word) => typeof word === "string" && PLAIN.test(word));
  return String(plain ?? "Error");
}

function defined(attributes: OptionalAttributes): Attributes {
  const found: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) found[name] = value;
  }
  return found;
}
