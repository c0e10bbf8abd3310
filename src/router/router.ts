import type { Client } from "../client/client.ts";
import type { HandlerOptions, Job } from "../core/job.ts";
import { scrubber, showError } from "../core/redact.ts";
import { LONGEST_WAIT_MS, ServiceBotError } from "../errors.ts";
import { eventTypes, isEventType, textsOf } from "../events/parse.ts";
import type { AnyEvent, EventType } from "../events/types.ts";
import { Begun } from "./begun.ts";
import { compose, type Middleware } from "./compose.ts";
import { type Context, createContext } from "./context.ts";

/** Handles one event. When it throws, the event is tried again later. */
export type Handler<T extends string = string> = (context: Context<T>) => unknown;

/** Sees what a handler threw. The retry policy decides what happens next. */
export type ErrorObserver = (error: unknown, context: Context) => unknown;

/** Matches events to handlers and gives them their context. Knows neither storage nor HTTP. */
export class Router {
  readonly #handlers = new Map<string, Handler[]>();
  readonly #options = new Map<string, HandlerOptions>();
  readonly #unknown: Handler[] = [];
  readonly #middleware: Middleware[] = [];
  readonly #observers: ErrorObserver[] = [];
  readonly #contexts = new WeakMap<Job<AnyEvent>, Context>();

  /** @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION */
  on<T extends EventType>(
    types: T | readonly T[],
    handler: Handler<T>,
    options: HandlerOptions = {},
  ): void {
    checkOptions(options);
    for (const type of typeof types === "string" ? [types] : types) {
      if (!isEventType(type)) throw unknownType(type);
      this.#options.set(type, { ...this.#options.get(type), ...options });
      const handlers = this.#handlers.get(type) ?? [];
      // The map goes from a type to handlers of that type; run() looks up by the event's own type.
      handlers.push(handler as Handler);
      this.#handlers.set(type, handlers);
    }
  }

  use(middleware: Middleware): void {
    this.#middleware.push(middleware);
  }

  onUnknown(handler: Handler): void {
    this.#unknown.push(handler);
  }

  onError(observer: ErrorObserver): void {
    this.#observers.push(observer);
  }

  /** What was set for the events of a type; of what was set twice the later one holds. */
  optionsFor(type: string): HandlerOptions {
    return this.#options.get(type) ?? {};
  }

  /** The types that have a handler. */
  get handledTypes(): readonly string[] {
    return [...this.#handlers.keys()];
  }

  /**
   * Runs the middleware and then the handlers of the event's type, one after the other. Replies and
   * steps that were not awaited belong to the run: it ends when they do, and fails when one does.
   */
  async run(job: Job<AnyEvent>, client: Client): Promise<void> {
    const begun = new Begun();
    const context = createContext(job, client, begun);
    this.#contexts.set(job, context);
    const enter = compose(this.#middleware, () => this.#handle(context));
    await begun.around(() => enter(context));
  }

  /** Tells the observers what a run of this job ended with. What they throw is logged and ends here. */
  async observe(error: unknown, job: Job<AnyEvent>): Promise<void> {
    const context = this.#contexts.get(job);
    if (context === undefined) return;
    for (const observer of this.#observers) {
      try {
        await observer(error, context);
      } catch (thrown) {
        // It may quote the message as the handler's own error may, which is not shown either.
        const shown = showError(thrown, scrubber(textsOf(job.event)));
        job.log.error({ error: shown }, "an onError observer failed");
      }
    }
  }

  async #handle(context: Context): Promise<void> {
    const { type } = context.event;
    const handlers = isEventType(type) ? (this.#handlers.get(type) ?? []) : this.#unknown;
    if (handlers.length === 0) context.log.debug("no handler for this type");
    for (const handler of handlers) await handler(context);
  }
}

/** A slip here would show much later, when something fails at night. */
function checkOptions({ maxAttempts, retry = {}, timeoutMs }: HandlerOptions): void {
  const problems = [
    maxAttempts !== undefined && !(Number.isInteger(maxAttempts) && maxAttempts >= 1)
      ? `maxAttempts must be a whole number from 1 up (got ${maxAttempts})`
      : undefined,
    timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= LONGEST_WAIT_MS)
      ? `timeoutMs must be more than 0 and at most ${LONGEST_WAIT_MS}, which is 365 days (got ${timeoutMs})`
      : undefined,
    ...Object.entries(retry).map(([name, value]) => checkRetry(name, value)),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new ServiceBotError("INVALID_OPTION", `${problems.join("; ")}.`);
}

/** The factor is no time, and what grows by it ends at `maxMs`. */
function checkRetry(name: string, value: number): string | undefined {
  if (name === "factor") {
    return value >= 0 ? undefined : `retry.factor must be 0 or more (got ${value})`;
  }
  if (value >= 0 && value <= LONGEST_WAIT_MS) return undefined;
  return `retry.${name} must be from 0 to ${LONGEST_WAIT_MS}, which is 365 days (got ${value})`;
}

function unknownType(type: string): ServiceBotError {
  return new ServiceBotError(
    "UNKNOWN_EVENT_TYPE",
    `"${type}" is not an event type of this version. Known: ${eventTypes.join(", ")}. ` +
      "For types that are newer than this version use onUnknown.",
  );
}
