import type { SpanAddress } from "../core/trace.ts";
import { hasCode, ServiceBotError } from "../errors.ts";

/** The parts of `@opentelemetry/api` that are used here: whoever installs this package need not have its types. */
export interface OpenTelemetryApi {
  readonly ROOT_CONTEXT: ApiContext;
  readonly SpanKind: Readonly<Record<"INTERNAL" | "CLIENT" | "CONSUMER", number>>;
  readonly SpanStatusCode: { readonly ERROR: number };
  readonly context: {
    active(): ApiContext;
    with<T>(context: ApiContext, work: () => T): T;
  };
  readonly trace: {
    getTracer(name: string, version: string): ApiTracer;
    getSpan(context: ApiContext): ApiSpan | undefined;
    setSpan(context: ApiContext, span: ApiSpan): ApiContext;
    setSpanContext(
      context: ApiContext,
      address: SpanAddress & { readonly isRemote: boolean },
    ): ApiContext;
  };
  isSpanContextValid(address: SpanAddress): boolean;
}

/** What goes with the work that is under way. */
export interface ApiContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): ApiContext;
  deleteValue(key: symbol): ApiContext;
}

export interface ApiTracer {
  startSpan(
    name: string,
    options: { readonly kind?: number; readonly attributes?: ApiAttributes },
    context: ApiContext,
  ): ApiSpan;
}

export interface ApiSpan {
  spanContext(): SpanAddress;
  setAttribute(name: string, value: string): unknown;
  setAttributes(attributes: ApiAttributes): unknown;
  setStatus(status: { readonly code: number; readonly message: string }): unknown;
  end(): void;
}

export type ApiAttributes = Record<string, string | number | boolean>;

/**
 * Loads the package, which only bots that trace need.
 *
 * @throws {ServiceBotError} TRACING_MISSING, with what to install
 */
export async function loadApi(
  load: () => Promise<OpenTelemetryApi> = () => import("@opentelemetry/api"),
): Promise<OpenTelemetryApi> {
  try {
    return await load();
  } catch (error) {
    if (!hasCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    throw new ServiceBotError(
      "TRACING_MISSING",
      'TRACING is on, and the package "@opentelemetry/api" is not installed. Run: npm install @opentelemetry/api',
      { cause: error },
    );
  }
}
