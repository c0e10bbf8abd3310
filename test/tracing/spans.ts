import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AlwaysOnSampler,
  ParentBasedSampler,
  type ReadableSpan,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

/** A span that has ended, as far as a test looks at it. */
export interface SeenSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An SDK, as an application sets one up: every span that has ended is remembered. */
export class Spans {
  readonly #ended: ReadableSpan[] = [];

  constructor() {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const remember = {
      onStart: () => undefined,
      onEnd: (span: ReadableSpan) => void this.#ended.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    };
    const sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() });
    trace.setGlobalTracerProvider(new TracerProvider({ sampler, spanProcessors: [remember] }));
  }

  /** In the order in which they began. */
  get all(): readonly SeenSpan[] {
    return this.#ended
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .map(see);
  }

  named(name: string): readonly SeenSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  /** The spans of a trace, each below its parent, two blanks deeper. */
  tree(traceId: string): string[] {
    const ofTrace = this.all.filter((span) => span.traceId === traceId);
    const known = new Set(ofTrace.map(({ spanId }) => spanId));
    const below = (parent: string | undefined, depth: number): string[] =>
      ofTrace
        .filter((span) =>
          parent === undefined
            ? span.parent === undefined || !known.has(span.parent)
            : span.parent === parent,
        )
        .flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...below(span.spanId, depth + 1)]);
    return below(undefined, 0);
  }

  /** Whatever of them is exported, as text. */
  text(): string {
    return JSON.stringify(
      this.#ended.map(({ name, attributes, status, events, links }) => {
        return { name, attributes, status, events, links };
      }),
    );
  }

  clear(): void {
    this.#ended.length = 0;
  }
}

function see(span: ReadableSpan): SeenSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: SpanKind[span.kind],
    traceId,
    spanId,
    parent: span.parentSpanContext?.spanId,
    failed: span.status.code === SpanStatusCode.ERROR,
    attributes: span.attributes,
  };
}
