import { CronPattern } from "../core/cron.ts";
import {
  checkOptions,
  type HandlerOptions,
  refuseProblems,
  requireFunction,
} from "../core/option-checks.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import { isEventType } from "../events/parse.ts";
import type { EventType } from "../events/types.ts";
import type { Context } from "./context.ts";
import type {
  Boundary,
  CronContext,
  CustomContext,
  ErrorObserver,
  FieldsOf,
  Handler,
  Middleware,
  Next,
  TimerContext,
} from "./handler.ts";
import {
  type Command,
  type CommandFields,
  commandPattern,
  type HearsFields,
  hearsPattern,
  type TextType,
} from "./matching.ts";
import { checkData, checkPayload } from "./payload.ts";
import {
  COMMAND_OPTIONS,
  type CommandOptions,
  CRON_OPTIONS,
  type CronOptions,
  checkCommandName,
  checkName,
  checkTypes,
  readHandler,
} from "./registration.ts";
import { ALL_TYPES, Routes, refuseUnknownType } from "./routes.ts";

type CommandContext = Context<TextType> & CommandFields;
type HearsContext = Context<TextType> & HearsFields;

/** A type that this version does not know. Known types have their payload without a schema. */
type CustomType<T extends string> = T extends EventType | `timer:${string}` | `cron:${string}`
  ? never
  : T;

/** A schema of the payload, of any library that follows Standard Schema v1. */
type Schema<P> = StandardSchemaV1<unknown, P>;

let readRoutes: (router: Router) => Routes;

/** Returns the routes behind a router. */
export function routesOf(router: Router): Routes {
  return readRoutes(router);
}

/**
 * A module: handlers that a bot, or another module, mounts with `use(router)`. Its middleware runs around its own
 * handlers alone.
 *
 * @typeParam X fields that the handlers need in the context, such as `{ user: User }`. A bot must have them to mount it.
 */
export class Router<X = unknown> {
  readonly #routes = new Routes();

  static {
    readRoutes = (router) => router.#routes;
  }

  /**
   * Handles events of a type, or of several, with two middlewares around the handler.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType, R, Q>(
    types: T | readonly T[],
    first: (context: Context<T> & X, next: Next) => R,
    second: (context: Context<T> & X & FieldsOf<R>, next: Next) => Q,
    handler: (context: Context<T> & X & FieldsOf<R> & FieldsOf<Q>) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles events of a type, or of several, with middleware around the handler.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType, R>(
    types: T | readonly T[],
    middleware: (context: Context<T> & X, next: Next) => R,
    handler: (context: Context<T> & X & FieldsOf<R>) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles events of a type, or of several. Handlers of one type run one after the other, and share the options: of what
   * was set twice the later one holds.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types; INVALID_OPTION
   */
  on<T extends EventType>(
    types: T | readonly T[],
    handler: Handler<T, X>,
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
   * Handles a type that this version does not know. `ctx.payload` is what the schema returns. An event that does not fit the
   * schema is a dead letter (PAYLOAD_INVALID).
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  on<T extends string, P>(
    type: CustomType<T>,
    schema: Schema<P>,
    handler: (context: CustomContext<T, P> & X) => unknown,
    options?: HandlerOptions,
  ): this;
  on(types: string | readonly string[], ...rest: readonly unknown[]): this {
    const list = typeof types === "string" ? [types] : types;
    checkTypes(list);
    const { schema, chain, options } = readHandler(`on("${list.join('", "')}")`, rest);
    for (const type of list) {
      if (/^(?:timer|cron):/.test(type))
        refuseProblems([`on() does not take ${type}; use onTimer or cron`]);
      if (schema === undefined && !isEventType(type)) refuseUnknownType(type);
    }
    const run = schema === undefined ? chain : checkPayload(schema, chain);
    for (const type of list) this.#routes.add({ kind: "event", type, run, options });
    return this;
  }

  /**
   * Handles events of types newer than this version, as far as `on` handles none of them.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onUnknown(
    handler: (context: CustomContext<string, Readonly<Record<string, unknown>>> & X) => unknown,
  ): this {
    const { chain } = readHandler("onUnknown()", [handler]);
    this.#routes.add({ kind: "unknown", run: chain });
    return this;
  }

  /**
   * Handles timers that `ctx.later(name, …)` has set.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onTimer<N extends string>(
    name: N,
    handler: (context: TimerContext<N> & X) => unknown,
    options?: HandlerOptions,
  ): this;
  /**
   * Handles timers that `ctx.later(name, …)` has set. `ctx.payload.data` is what the schema returns. Data that does not fit the
   * schema make the event a dead letter (PAYLOAD_INVALID).
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
    checkName("onTimer()", name);
    const { schema, chain, options } = readHandler(`onTimer("${name}")`, rest);
    const run = schema === undefined ? chain : checkData(schema, chain);
    this.#routes.add({ kind: "event", type: `timer:${name}`, run, options });
    return this;
  }

  /**
   * Runs the handler at each moment of a pattern, in UTC: minute, hour, day of the month, month, day of the week. A sixth field
   * in front is the second. Each moment is one event, which one instance handles once.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  cron<N extends string>(
    name: N,
    pattern: string,
    handler: (context: CronContext<N> & X) => unknown,
  ): this;
  /**
   * Runs the handler at each moment of a pattern, in the time zone of the options.
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
    checkName("cron()", name);
    const isFirst = typeof rest[0] === "function" || rest.length === 1;
    const given: CronOptions = isFirst ? {} : Object(rest[0]);
    checkOptions(given, CRON_OPTIONS);
    const { timeZone = "UTC", missed = "last", ...options } = given;
    refuseProblems([
      typeof pattern === "string" ? undefined : "cron() needs a pattern such as 0 9 * * *",
      missed === "last" || missed === "none" ? undefined : 'missed must be "last" or "none"',
    ]);
    const { chain } = readHandler(`cron("${name}")`, isFirst ? rest : rest.slice(1));
    const cron = { name, pattern, timeZone, missed, moments: new CronPattern(pattern, timeZone) };
    this.#routes.add({ kind: "event", type: `cron:${name}`, run: chain, options, cron });
    return this;
  }

  /**
   * Handles messages and mentions that begin with `/name`, in any case, with `ctx.command`. The bot's name in front of it is
   * taken off. Of all commands and patterns the first one that matches handles the event; otherwise the handlers of `on` do.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  command(name: string, handler: (context: CommandContext & X) => unknown): this;
  /**
   * Handles messages and mentions that begin with `/name`, with middleware around the handler.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  command<R>(
    name: string,
    options: CommandOptions,
    middleware: (context: CommandContext & X, next: Next) => R,
    handler: (context: CommandContext & X & FieldsOf<R>) => unknown,
  ): this;
  /**
   * Handles messages and mentions that begin with `/name`, and describes the command for `bot.commands`.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  command(
    name: string,
    options: CommandOptions,
    handler: (context: CommandContext & X) => unknown,
  ): this;
  command(name: string, ...rest: readonly unknown[]): this {
    checkCommandName(name);
    const isBare = typeof rest[0] === "function" || rest.length === 1;
    const options: CommandOptions = isBare ? {} : Object(rest[0]);
    checkOptions(options, COMMAND_OPTIONS);
    const { chain: run } = readHandler(`command("${name}")`, isBare ? rest : rest.slice(1));
    const command = { name, description: options.description ?? "" };
    this.#routes.add({ kind: "text", run, command, ...commandPattern(name) });
    return this;
  }

  /**
   * Handles messages and mentions with this text, in any case, or that match a regular expression, with `ctx.match`. The bot's
   * name at the beginning and at the end is taken off.
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
  hears(pattern: string | RegExp, ...rest: readonly unknown[]): this {
    const isText = typeof pattern === "string" && pattern.trim() !== "";
    if (!isText && !(pattern instanceof RegExp)) {
      refuseProblems(["hears() needs a text or a regular expression"]);
    }
    const { chain: run } = readHandler(`hears(${pattern})`, rest);
    this.#routes.add({ kind: "text", run, ...hearsPattern(pattern) });
    return this;
  }

  /**
   * Runs around every handler, in the order of the calls. Fields that a middleware passes with `return next({ user })` are in
   * the context of what comes after it, and in the type of the router that is returned.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  use<R>(middleware: (context: Context & X, next: Next) => R): Router<X & FieldsOf<R>>;
  /**
   * Mounts a module: its handlers run among those of this router, in the order of the calls.
   *
   * @throws {ServiceBotError} INVALID_OPTION for a module that is mounted here already, or for a name that is taken
   */
  use<M>(module: X extends M ? Router<M> : never): this;
  use(part: unknown): Router {
    if (part instanceof Router) {
      this.#routes.mount(routesOf(part));
    } else {
      requireFunction("use()", part);
      this.#routes.addMiddleware(part as Middleware);
    }
    return this;
  }

  /**
   * Sees what handlers throw; the retry policy decides what happens next. In a module: what its own handlers throw.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  onError(observer: ErrorObserver<X>): this {
    requireFunction("onError()", observer);
    this.#routes.observers.push(observer as ErrorObserver);
    return this;
  }

  /**
   * Has the last word on an event that no further run will handle, and may answer: once, before the event becomes a dead
   * letter. In a module: on events of its own handlers.
   *
   * @throws {ServiceBotError} INVALID_OPTION for a second one
   */
  catch(boundary: Boundary<string, X>): this;
  /**
   * Has the last word on events of a type, or of several, that no further run will handle.
   *
   * @throws {ServiceBotError} UNKNOWN_EVENT_TYPE; INVALID_OPTION for a second one of a type
   */
  catch<T extends string>(types: T | readonly T[], boundary: Boundary<T, X>): this;
  catch(...given: readonly unknown[]): this {
    const [first, boundary = first] = given;
    const types = given.length === 1 ? [ALL_TYPES] : [first].flat();
    requireFunction("catch()", boundary);
    checkTypes(types);
    for (const type of types) {
      if (type !== ALL_TYPES && !this.#routes.handles(type)) {
        refuseUnknownType(
          type,
          `For another type register its handler first, with on("${type}", …).`,
        );
      }
      if (this.#routes.boundaries.has(type))
        refuseProblems([`catch(${type}) is registered already`]);
      this.#routes.boundaries.set(type, boundary as Boundary);
    }
    return this;
  }

  /** The commands with their descriptions, those of modules included, in the order of the calls. */
  get commands(): readonly Command[] {
    return this.#routes.commands;
  }
}
