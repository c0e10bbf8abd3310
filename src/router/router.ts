import type { HandlerOptions } from "../core/handler-options.ts";
import { requireFunction } from "../core/option-checks.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import { tryRead } from "../errors.ts";
import type { EventType } from "../events/types.ts";
import type { Context, CustomContext } from "./context.ts";
import { readTypes } from "./event-types.ts";
import type {
  Boundary,
  ContextOf,
  CronContext,
  ErrorObserver,
  FieldsOf,
  Handler,
  Middleware,
  Next,
  TimerContext,
} from "./handler.ts";
import type {
  Command,
  CommandContext,
  CommandOptions,
  HearsContext,
  HearsOptions,
  TextKind,
} from "./matching.ts";
import {
  type CronOptions,
  commandEntry,
  cronEntry,
  eventEntries,
  hearsEntry,
  timerEntry,
  unknownEntry,
} from "./registration.ts";
import { ALL_TYPES, Routes } from "./routes.ts";

/** A type that this version does not know. The payload of a known type needs no schema. */
type CustomType<T extends string> = T extends EventType | `timer:${string}` | `cron:${string}`
  ? never
  : T;

type Schema<P> = StandardSchemaV1<unknown, P>;

let readRoutes: (router: Router) => Routes;

export function routesOf(router: Router): Routes {
  return readRoutes(router);
}

/**
 * A module: a set of handlers that a bot, or another module, mounts with `use(router)`. Its middleware runs only around
 * its own handlers. `X` is the type of the fields that the handlers need in the context, such as `{ user: User }`. Only
 * a bot with these fields can mount the module.
 */
export class Router<X = unknown> {
  readonly #routes = new Routes();

  static {
    readRoutes = (router) => router.#routes;
  }

  // If no overload matches, the compiler reports the last one, and types the handler's parameter by the first one. Both
  // are for the platform's types, so that the error for a misspelt type lists the names.

  /**
   * Handles events of one or several types, with two middlewares around the handler.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType, R, Q>(
    types: T | readonly T[],
    first: (context: ContextOf<T> & X, next: Next) => R,
    second: (context: ContextOf<T> & X & FieldsOf<R>, next: Next) => Q,
    handler: (context: ContextOf<T> & X & FieldsOf<R> & FieldsOf<Q>) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles a type that this version does not know, with middleware around the handler.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  on<T extends string, P, R>(
    type: CustomType<T>,
    schema: Schema<P>,
    middleware: (context: CustomContext<T, P> & X, next: Next) => R,
    handler: (context: CustomContext<T, P> & X & FieldsOf<R>) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles a type that this version does not know. `ctx.payload` is the schema's output. An event that does not match
   * the schema becomes a dead letter (PAYLOAD_INVALID).
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  on<T extends string, P>(
    type: CustomType<T>,
    schema: Schema<P>,
    handler: (context: CustomContext<T, P> & X) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles events of one or several types, with middleware around the handler.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType, R>(
    types: T | readonly T[],
    middleware: (context: ContextOf<T> & X, next: Next) => R,
    handler: (context: ContextOf<T> & X & FieldsOf<R>) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles events of one or several types. Handlers for the same type run one after another and share their options.
   * If an option is set more than once, the last value applies.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType>(
    types: T | readonly T[],
    handler: Handler<T, X>,
    options?: HandlerOptions,
  ): this;
  on(types: string | readonly string[], ...rest: readonly unknown[]): this {
    for (const entry of eventEntries(types, rest)) this.#routes.add(entry);
    return this;
  }

  /**
   * Handles events of types newer than this version, unless `on` handles them.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onUnknown(
    handler: (context: CustomContext<string, Readonly<Record<string, unknown>>> & X) => unknown,
  ): this {
    this.#routes.add(unknownEntry(handler));
    return this;
  }

  /**
   * Handles timers set with `ctx.later(name, …)`.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onTimer<N extends string>(
    name: N,
    handler: (context: TimerContext<N> & X) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles timers set with `ctx.later(name, …)`. `ctx.payload.data` is the schema's output. If the data does not match
   * the schema, the event becomes a dead letter (PAYLOAD_INVALID).
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onTimer<N extends string, D>(
    name: N,
    schema: Schema<D>,
    handler: (context: TimerContext<N, D> & X) => unknown,
    options?: HandlerOptions,
  ): this;
  onTimer(name: string, ...rest: readonly unknown[]): this {
    this.#routes.add(timerEntry(name, rest));
    return this;
  }

  /**
   * Runs the handler at each tick of a cron pattern, in UTC. The pattern's fields are minute, hour, day of the month,
   * month and day of the week, optionally preceded by the second. Each tick is one event, which a single instance
   * handles once.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  cron<N extends string>(
    name: N,
    pattern: string,
    handler: (context: CronContext<N> & X) => unknown,
  ): this;
  /**
   * Runs the handler at each tick of a cron pattern, in the time zone given in the options.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  cron<N extends string>(
    name: N,
    pattern: string,
    options: CronOptions,
    handler: (context: CronContext<N> & X) => unknown,
  ): this;
  cron(name: string, pattern: string, ...rest: readonly unknown[]): this {
    this.#routes.add(cronEntry(name, pattern, rest));
    return this;
  }

  /**
   * Handles messages and mentions that begin with `/name`, ignoring case, and adds `ctx.command` to the context. The
   * bot's name may precede the command. The first matching command or pattern handles the event. If none matches, the
   * handlers registered with `on` run.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  command(name: string, handler: (context: CommandContext & X) => unknown): this;
  /**
   * Handles messages and mentions that begin with `/name`, with middleware around the handler.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  command<R, I extends TextKind = TextKind>(
    name: string,
    options: CommandOptions<I>,
    middleware: (context: CommandContext<I> & X, next: Next) => R,
    handler: (context: CommandContext<I> & X & FieldsOf<R>) => unknown,
  ): this;
  /**
   * Handles messages, mentions or both (`in`) that begin with `/name`, and describes the command for `bot.commands`.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  command<I extends TextKind = TextKind>(
    name: string,
    options: CommandOptions<I>,
    handler: (context: CommandContext<I> & X) => unknown,
  ): this;
  command(name: string, ...rest: readonly unknown[]): this {
    this.#routes.add(commandEntry(name, rest));
    return this;
  }

  /**
   * Handles messages and mentions that have exactly this text, in any case, or that match a regular expression. Adds
   * `ctx.match` to the context. The bot's name at the beginning or the end is ignored.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  hears(pattern: string | RegExp, handler: (context: HearsContext & X) => unknown): this;
  /**
   * Handles messages and mentions with this text, with middleware around the handler.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  hears<R>(
    pattern: string | RegExp,
    middleware: (context: HearsContext & X, next: Next) => R,
    handler: (context: HearsContext & X & FieldsOf<R>) => unknown,
  ): this;
  /**
   * Handles messages, mentions or both (`in`) with this text, with middleware around the handler.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  hears<R, I extends TextKind = TextKind>(
    pattern: string | RegExp,
    options: HearsOptions<I>,
    middleware: (context: HearsContext<I> & X, next: Next) => R,
    handler: (context: HearsContext<I> & X & FieldsOf<R>) => unknown,
  ): this;
  /**
   * Handles messages, mentions or both (`in`) with this text.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  hears<I extends TextKind = TextKind>(
    pattern: string | RegExp,
    options: HearsOptions<I>,
    handler: (context: HearsContext<I> & X) => unknown,
  ): this;
  hears(pattern: string | RegExp, ...rest: readonly unknown[]): this {
    this.#routes.add(hearsEntry(pattern, rest));
    return this;
  }

  /**
   * Adds middleware around every handler. Middleware runs in the order in which it was added. Fields that middleware
   * passes with `return next({ user })` are added to the context of later handlers. The returned router includes these
   * fields in its type.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  use<R>(middleware: (context: Context & X, next: Next) => R): Router<X & FieldsOf<R>>;
  /**
   * Mounts a module. Its handlers run among this router's own handlers, in registration order.
   *
   * @throws {ServiceBotError} INVALID_OPTION if the module is already mounted, or if a name is already taken
   */
  use<M>(module: X extends M ? Router<M> : never): this;
  use(part: unknown): Router {
    const isModule = tryRead(() => part instanceof Router) === true;
    if (isModule) {
      this.#routes.mount(routesOf(part as Router));
    } else {
      requireFunction("use()", part);
      this.#routes.addMiddleware(part as Middleware);
    }
    return this;
  }

  /**
   * Registers an observer for errors thrown by handlers. The retry policy decides what happens next. A module's
   * observer receives only errors from the module's handlers.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onError(observer: ErrorObserver<X>): this {
    requireFunction("onError()", observer);
    this.#routes.observers.push(observer as ErrorObserver);
    return this;
  }

  /**
   * Registers a boundary, which handles an event whose last run failed. The boundary runs once, before the event
   * becomes a dead letter, and may reply to the event. A module's boundary receives only events from the module's
   * handlers.
   *
   * @throws {ServiceBotError} INVALID_OPTION if the router already has a boundary
   */
  catch(boundary: Boundary<string, X>): this;
  /**
   * Registers a boundary for events of one or several types.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE; INVALID_OPTION if a type already has a boundary
   */
  catch<T extends string>(types: T | readonly T[], boundary: Boundary<T, X>): this;
  catch(...given: readonly unknown[]): this {
    const [first, boundary = first] = given;
    const types = given.length === 1 ? [ALL_TYPES] : readTypes(first);
    requireFunction("catch()", boundary);
    for (const type of types) this.#routes.addBoundary(type, boundary as Boundary);
    return this;
  }

  /** Commands with their descriptions, including those of modules, in registration order. */
  get commands(): readonly Command[] {
    return this.#routes.commands;
  }
}
