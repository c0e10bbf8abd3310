import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { type EndedSpan, recordingProvider } from "./recording-provider.ts";

export interface SeenSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Keeps the active context across `await`, as an application's context manager would. */
class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with: ContextManager["with"] = (active, callback, thisArg, ...args) =>
    this.#storage.run(active, () => Reflect.apply(callback, thisArg, args));

  bind<Target>(_: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

/** Records every ended span. By default, spans come from the recording provider. */
export class Spans {
  readonly #ended: EndedSpan[] = [];

  constructor(
    createProvider: (onEnd: (span: EndedSpan) => void) => TracerProvider = recordingProvider,
  ) {
    context.setGlobalContextManager(new AsyncContextManager());
    trace.setGlobalTracerProvider(createProvider((span) => void this.#ended.push(span)));
  }

  /** Removes the global tracer, so that the worker's next test file can register its own. */
  close(): void {
    trace.disable();
    context.disable();
  }

  /** Sorted by start time. */
  get all(): readonly SeenSpan[] {
    return this.#ended
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .map(see);
  }

  named(name: string): readonly SeenSpan[] {
    return this.all.filter((span) => span.name === name);
  }

  /** Returns the names of a trace's spans as a tree. A child is indented by two spaces more than its parent. */
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

function see(span: EndedSpan): SeenSpan {
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
