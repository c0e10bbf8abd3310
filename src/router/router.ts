import {
  checkOptions,
  HANDLER_OPTIONS,
  type HandlerOptions,
  refuseProblems,
  requireFunction,
} from "../core/option-checks.ts";
import { scrubber, showError } from "../core/safe-text.ts";
import { ServiceBotError } from "../errors.ts";
import { eventTypes, isEventType, textsOf } from "../events/parse.ts";
import type { EventType } from "../events/types.ts";
import type { Context } from "./context.ts";
import { PendingTasks } from "./pending-tasks.ts";

/** Handles one event. An event whose handler throws is tried again later. */
export type Handler<T extends string = string> = (context: Context<T>) => unknown;

/** Runs around every handler; `next` runs the rest of the chain. Without `next` the event ends here. */
export type Middleware = (context: Context, next: () => Promise<void>) => unknown;

/** Gets the errors of handlers. The retry policy decides about the event. */
export type ErrorObserver = (error: unknown, context: Context) => unknown;

/** Matches events to handlers and gives them their context. Knows neither storage nor HTTP. */
export class Router {
  readonly #handlers = new Map<string, Handler[]>();
  readonly #options = new Map<string, HandlerOptions>();
  readonly #unknown: Handler[] = [];
  readonly #middleware: Middleware[] = [];
  readonly #observers: ErrorObserver[] = [];
  /** Made when an event of the type comes first, and again after a change. */
  readonly #chains = new Map<string, Chain>();

  /** @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION */
  on<T extends EventType>(
    types: T | readonly T[],
    handler: Handler<T>,
    options: HandlerOptions = {},
  ): void {
    const list = typeof types === "string" ? [types] : types;
    checkTypes(list);
    requireFunction(`on("${list.join('", "')}")`, handler);
    checkOptions(options, HANDLER_OPTIONS);
    this.#chains.clear();
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
    this.#chains.clear();
    this.#middleware.push(middleware);
  }

  /** @throws {ServiceBotError} INVALID_OPTION */
  onUnknown(handler: Handler): void {
    requireFunction("onUnknown()", handler);
    this.#chains.clear();
    this.#unknown.push(handler);
  }

  /** @throws {ServiceBotError} INVALID_OPTION */
  onError(observer: ErrorObserver): void {
    requireFunction("onError()", observer);
    this.#observers.push(observer);
  }

  /** Options for the events of a type. An option that was set twice has its later value. */
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

  /** Runs the middleware, and then the handlers of the event's type one after the other. */
  run(context: Context): Promise<void> {
    const type = isEventType(context.event.type) ? context.event.type : UNKNOWN;
    let chain = this.#chains.get(type);
    if (chain === undefined) {
      const handlers = type === UNKNOWN ? this.#unknown : (this.#handlers.get(type) ?? []);
      chain = compose(this.#middleware, handlers);
      this.#chains.set(type, chain);
    }
    return chain(context);
  }

  /** Notifies the observers of the error that ended a run. An error of an observer is logged and ends here. */
  async observe(error: unknown, context: Context): Promise<void> {
    for (const observer of this.#observers) {
      try {
        await observer(error, context);
      } catch (thrown) {
        // The error may quote the message, which the log does not show.
        const err = showError(thrown, scrubber(textsOf(context.event)));
        context.log.error({ err }, "an onError observer failed");
      }
    }
  }
}

/** The chain of all types that this version does not know. No type has this name. */
const UNKNOWN = "";

/** Middleware around the handlers of one type. */
type Chain = (context: Context) => Promise<void>;

/**
 * Nests middleware around handlers, the first one outermost. A `next()` that was not awaited is waited for all the same,
 * and its failure is the middleware's.
 */
function compose(middleware: readonly Middleware[], handlers: readonly Handler[]): Chain {
  const innermost: Chain = async (context) => {
    if (handlers.length === 0) context.log.debug("no handler for this type");
    for (const handler of handlers) await handler(context);
  };
  return middleware.reduceRight<Chain>((inner, current) => {
    return async (context) => {
      const tasks = new PendingTasks();
      let isEntered = false;
      const next = () =>
        tasks.start(async () => {
          if (isEntered) throw calledTwice();
          isEntered = true;
          await inner(context);
        });
      await tasks.run(() => current(context, next));
    };
  }, innermost);
}

function calledTwice(): ServiceBotError {
  return new ServiceBotError(
    "NEXT_CALLED_TWICE",
    "A middleware called next() twice; the handlers would run twice. Call it once, and await it.",
  );
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
