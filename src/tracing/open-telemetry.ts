import { spanIn, traceOf } from "../core/trace.ts";
import type { Attributes, Span, SpanStart, Tracing } from "../core/tracing.ts";
import { version } from "../core/version.ts";
import type { ApiAttributes, ApiContext, ApiSpan, ApiTracer, OpenTelemetryApi } from "./api.ts";

/** Spans for whatever SDK the application has set up: it decides what is sampled, and where it goes. */
export class OpenTelemetry implements Tracing {
  readonly #api: OpenTelemetryApi;
  readonly #tracer: ApiTracer;

  constructor(api: OpenTelemetryApi) {
    this.#api = api;
    this.#tracer = api.trace.getTracer("service-bot", version());
  }

  /** False when no SDK has been set up: then the API makes spans that nobody sees. */
  isTakenUp(): boolean {
    const { isSpanContextValid, ROOT_CONTEXT } = this.#api;
    // Never ended, so that it is never exported either.
    const probe = this.#tracer.startSpan("probe", {}, ROOT_CONTEXT);
    return isSpanContextValid(probe.spanContext());
  }

  async span<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
    const { trace, context, SpanKind } = this.#api;
    const kind = SpanKind[kinds[start.kind]];
    const parent = this.#parentOf(start);
    const inner = this.#tracer.startSpan(
      start.name,
      { kind, attributes: defined(start.attributes) },
      parent,
    );
    const span = new OpenSpan(this.#api, inner);
    try {
      return await context.with(trace.setSpan(parent, inner), () => work(span));
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** A span that is at work in this process is nearer than one that a trace names. */
  #parentOf({ parent, detached = false }: SpanStart): ApiContext {
    const { trace, context, ROOT_CONTEXT } = this.#api;
    const current = detached ? ROOT_CONTEXT : context.active();
    const address = spanIn(parent);
    if (address === undefined || trace.getSpan(current) !== undefined) return current;
    return trace.setSpanContext(current, { ...address, isRemote: true });
  }
}

const kinds = { consumer: "CONSUMER", client: "CLIENT", internal: "INTERNAL" } as const;

class OpenSpan implements Span {
  readonly #api: OpenTelemetryApi;
  readonly #span: ApiSpan;
  #forgotten = false;

  constructor(api: OpenTelemetryApi, span: ApiSpan) {
    this.#api = api;
    this.#span = span;
  }

  get trace(): string | undefined {
    const address = this.#span.spanContext();
    return this.#api.isSpanContextValid(address) ? traceOf(address) : undefined;
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(defined(attributes));
  }

  fail(error: unknown): void {
    const type = typeOf(error);
    this.#span.setAttribute("error.type", type);
    // Its message is not told: it may quote what people wrote.
    this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: type });
  }

  /** A span that is never ended is never exported. */
  forget(): void {
    this.#forgotten = true;
  }

  end(): void {
    if (!this.#forgotten) this.#span.end();
  }
}

/** What can be a code or the name of a class, and no sentence. */
const PLAIN = /^[\w.:-]{1,64}$/;

function typeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return typeof error;
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  const plain = [code, name].find((word) => typeof word === "string" && PLAIN.test(word));
  return String(plain ?? "Error");
}

function defined(attributes: Attributes): ApiAttributes {
  const found: ApiAttributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) found[name] = value;
  }
  return found;
}
