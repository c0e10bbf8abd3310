/**
 * Spans, as the parts of a bot ask for them. Without a `Tracing` they ask for none, and nothing is made; what makes them
 * is in `src/tracing/`.
 */

/** What a span says: no texts of people, and no secrets. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  readonly kind: "consumer" | "client" | "internal";
  /** The trace (see `trace.ts`) whose span it is put below. */
  readonly parent?: string | undefined;
  /** True: what runs at the moment is not its parent, be there another one or none. */
  readonly detached?: boolean;
  readonly attributes: Attributes;
}

export interface Span {
  /** What is stored with events, so that theirs come below this one; undefined where nobody takes up spans. */
  readonly trace: string | undefined;
  set(attributes: Attributes): void;
  /** Says that it has failed, and with which error: its code or its kind, never its message. */
  fail(error: unknown): void;
  /** Nothing has come of it: nobody is told. */
  forget(): void;
}

export interface Tracing {
  /** Runs `work` in a span: what it begins comes below it. What it throws fails the span. */
  span<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
}

/** The same where there may be no tracing: then there is no span. */
export function inSpan<T>(
  tracing: Tracing | undefined,
  start: () => SpanStart,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  return tracing === undefined ? work(undefined) : tracing.span(start(), work);
}
