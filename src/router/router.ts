import type { Client } from "../client/client.ts";
import type { HandlerOptions } from "../core/job.ts";
import {
  type OptionNames,
  outOfRange,
  refuseProblems,
  requireFunction,
  retryProblems,
  TIME_LIMIT,
  unknownOptions,
} from "../core/ranges.ts";
import { scrubber, showError } from "../core/redact.ts";
import { ServiceBotError } from "../errors.ts";
import { eventTypes, isEventType, textsOf } from "../events/parse.ts";
import type { AnyEvent, EventType } from "../events/types.ts";
import type { Job } from "../steps/job.ts";
import { PendingTasks } from "../steps/pending-tasks.ts";
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
  /** Of the runs that observers may still be told of. */
  readonly #contexts = new WeakMap<Job<AnyEvent>, Context>();

  /** @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION */
  on<T extends EventType>(
    types: T | readonly T[],
    handler: Handler<T>,
    options: HandlerOptions = {},
  ): void {
    const list = typeof types === "string" ? [types] : types;
    checkTypes(list);
    requireFunction(`on("${list.join('", "')}")`, handler);
    checkOptions(options);
    for (const type of list) {
      if (!isEventType(type)) throw unknownType(type);
      this.#options.set(type, { ...this.#options.get(type), ...options });
      const handlers = this.#handlers.get(type) ?? [];
      // The map goes from a type to handlers of that type; run() looks up by the event's own type.
      handlers.push(handler as Handler);
      this.#handlers.set(type, handlers);
    }
  }

  /** @throws {ServiceBotError} INVALID_OPTION */
  use(middleware: Middleware): void {
    requireFunction("use()", middleware);
    this.#middleware.push(middleware);
  }

  /** @throws {ServiceBotError} INVALID_OPTION */
  onUnknown(handler: Handler): void {
    requireFunction("onUnknown()", handler);
    this.#unknown.push(handler);
  }

  /** @throws {ServiceBotError} INVALID_OPTION */
  onError(observer: ErrorObserver): void {
    requireFunction("onError()", observer);
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

  /** True if `onUnknown` handles further types, or if middleware handles all of them in the place of handlers. */
  get handlesOtherTypes(): boolean {
    const isMiddlewareAlone = this.#handlers.size === 0 && this.#middleware.length > 0;
    return this.#unknown.length > 0 || isMiddlewareAlone;
  }

  /**
   * Runs the middleware and then the handlers of the event's type, one after the other. Replies and
   * steps that were not awaited belong to the run: it ends when they do, and fails when one does.
   */
  async run(job: Job<AnyEvent>, client: Client): Promise<void> {
    const tasks = new PendingTasks();
    const context = createContext(job, client, tasks);
    this.#contexts.set(job, context);
    const enter = compose(this.#middleware, () => this.#handle(context));
    await tasks.run(() => enter(context));
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
        const err = showError(thrown, scrubber(textsOf(job.event)));
        job.log.error({ err }, "an onError observer failed");
      }
    }
  }

  /**
   * Nobody is told of this job any more. What is left to the collector of garbage here lives on, with all that
   * belongs to its event, until the next full collection, and makes the quick ones before that long.
   */
  forget(job: Job<AnyEvent>): void {
    this.#contexts.delete(job);
  }

  async #handle(context: Context): Promise<void> {
    const { type } = context.event;
    const handlers = isEventType(type) ? (this.#handlers.get(type) ?? []) : this.#unknown;
    if (handlers.length === 0) context.log.debug("no handler for this type");
    for (const handler of handlers) await handler(context);
  }
}

const HANDLER_OPTIONS: OptionNames<HandlerOptions> = {
  maxAttempts: true,
  retry: true,
  timeoutMs: true,
  concurrency: true,
};

function checkOptions(options: HandlerOptions): void {
  const { maxAttempts, retry, timeoutMs, concurrency } = options;
  refuseProblems([
    ...unknownOptions(options, HANDLER_OPTIONS),
    outOfRange("maxAttempts", maxAttempts, { min: 1, whole: true }),
    outOfRange("timeoutMs", timeoutMs, TIME_LIMIT),
    outOfRange("concurrency", concurrency, { min: 1, whole: true }),
    ...retryProblems(retry),
  ]);
}

/** JavaScript, and values that are cast, pass anything. */
function checkTypes(list: unknown): void {
  if (Array.isArray(list) && list.every((type) => typeof type === "string")) return;
  refuseProblems(["on() needs an event type, or an array of them"]);
}

function unknownType(type: string): ServiceBotError {
  return new ServiceBotError(
    "UNKNOWN_EVENT_TYPE",
    `"${type}" is not an event type of this version. Known: ${eventTypes.join(", ")}. ` +
      "For types that are newer than this version use onUnknown.",
  );
}
