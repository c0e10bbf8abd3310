import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";

/** An ended span in the form that an SDK exports. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext | undefined;
  readonly startTime: readonly [number, number];
  readonly status: SpanStatus;
  readonly attributes: Readonly<Attributes>;
  readonly events: readonly unknown[];
  readonly links: readonly unknown[];
  spanContext(): SpanContext;
}

/** Passes each ended span to `onEnd`. Spans under an unsampled parent are not recorded. */
export function recordingProvider(onEnd: (span: EndedSpan) => void): TracerProvider {
  return { getTracer: () => new RecordingTracer(onEnd) };
}

class RecordingTracer implements Tracer {
  readonly #onEnd: (span: EndedSpan) => void;

  constructor(onEnd: (span: EndedSpan) => void) {
    this.#onEnd = onEnd;
  }

  startSpan(name: string, options: SpanOptions = {}, parent = context.active()): Span {
    const above = options.root === true ? undefined : trace.getSpanContext(parent);
    const address: SpanContext = {
      traceId: above?.traceId ?? randomHex(16),
      spanId: randomHex(8),
      traceFlags: above?.traceFlags ?? TraceFlags.SAMPLED,
    };
    if (address.traceFlags !== TraceFlags.SAMPLED) return trace.wrapSpanContext(address);
    return new RecordedSpan(name, address, above, options, this.#onEnd);
  }

  startActiveSpan<Callback extends (span: Span) => ReturnType<Callback>>(
    name: string,
    ...rest: [...([] | [SpanOptions] | [SpanOptions, Context]), Callback]
  ): ReturnType<Callback> {
    const callback = rest.at(-1) as Callback;
    const [options, parent] = rest.slice(0, -1) as [SpanOptions?, Context?];
    const active = parent ?? context.active();
    const span = this.startSpan(name, options, active);
    return context.with(trace.setSpan(active, span), () => callback(span));
  }
}

/** Orders spans by start, even if two spans start in the same millisecond. */
let began = 0;

class RecordedSpan implements Span, EndedSpan {
  name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext: SpanContext | undefined;
  readonly startTime: readonly [number, number];
  status: SpanStatus = { code: SpanStatusCode.UNSET };
  readonly attributes: Attributes = {};
  readonly events: unknown[] = [];
  readonly links: unknown[] = [];
  readonly #address: SpanContext;
  readonly #onEnd: (span: EndedSpan) => void;

  constructor(
    name: string,
    address: SpanContext,
    parent: SpanContext | undefined,
    { kind = SpanKind.INTERNAL, attributes = {}, links = [] }: SpanOptions,
    onEnd: (span: EndedSpan) => void,
  ) {
    this.name = name;
    this.kind = kind;
    this.parentSpanContext = parent;
    this.startTime = [began++, 0];
    this.#address = address;
    this.#onEnd = onEnd;
    this.setAttributes(attributes);
    this.addLinks([...links]);
  }

  spanContext(): SpanContext {
    return this.#address;
  }

  setAttribute(name: string, value: Attributes[string] & {}): this {
    this.attributes[name] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }

  addEvent(...event: readonly unknown[]): this {
    this.events.push(event);
    return this;
  }

  addLink(link: unknown): this {
    this.links.push(link);
    return this;
  }

  addLinks(links: readonly unknown[]): this {
    this.links.push(...links);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.status = status;
    return this;
  }

  updateName(name: string): this {
    this.name = name;
    return this;
  }

  recordException(exception: unknown): void {
    this.events.push(String(exception));
  }

  isRecording(): boolean {
    return true;
  }

  end(): void {
    this.#onEnd(this);
  }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}
