import type { CronPattern } from "../core/cron.ts";
import type { HandlerOptions } from "../core/handler-options.ts";
import { authorCode } from "../core/loop-watch.ts";
import { refuseProblems } from "../core/option-checks.ts";
import { showError } from "../core/safe-text.ts";
import { ServiceBotError } from "../errors.ts";
import { timerType } from "../events/own.ts";
import { scrubberOf } from "../events/parse.ts";
import { isEventType } from "../events/payload.ts";
import { type Chain, inOrder, type Module, type Route, wrap } from "./chain.ts";
import type { Context } from "./context.ts";
import { refuseUnknownType } from "./event-types.ts";
import type { Boundary, ErrorObserver, Middleware } from "./handler.ts";
import { type Command, firstMatch, type TextEntry, type TextRoute } from "./matching.ts";

export type Entry = EventEntry | UnknownEntry | TextEntry | ModuleEntry;

/** Handler for one event type, which is a platform type, `timer:NAME` or `cron:NAME`. */
export interface EventEntry {
  readonly kind: "event";
  readonly type: string;
  readonly run: Chain;
  readonly options: HandlerOptions;
  readonly cron?: Cron | undefined;
}

export interface UnknownEntry {
  readonly kind: "unknown";
  readonly run: Chain;
}

interface ModuleEntry {
  readonly kind: "module";
  readonly routes: Routes;
}

export interface Cron {
  readonly name: string;
  /** Five fields, or six with seconds first. */
  readonly pattern: string;
  /** IANA time zone name. */
  readonly timeZone: string;
  /** Whether to run the last tick missed while no instance was running. */
  readonly missed: "last" | "none";
  readonly moments: CronPattern;
}

/** Key of the chain for all types that this version does not know. No type has this name. */
const UNKNOWN = "";

/** Key of the boundary for all types without a boundary of their own. */
export const ALL_TYPES = "";

const OWN_TYPE = /^(?:timer|cron):/;

/** The routes of a bot or a module. They select an event's handlers, independently of storage and HTTP. */
export class Routes {
  readonly #entries: Entry[] = [];
  readonly #middleware: Middleware[] = [];
  readonly observers: ErrorObserver[] = [];
  readonly boundaries: Map<string, Boundary> = new Map();
  /** Routes that mount this module. */
  readonly #parents = new Set<Routes>();
  /** Built for the first event of each type, and rebuilt after a change. */
  readonly #chains = new Map<string, Chain>();
  /** Built on first use, and rebuilt after a change. */
  #types: Types | undefined;

  /** @throws {ServiceBotError} INVALID_OPTION if the name of the command or cron job is taken */
  add(entry: Entry): void {
    this.#changed();
    const { root } = this;
    for (const name of uniqueNames([entry])) {
      for (const other of root) refuseTaken(name, other.#allEntries());
    }
    this.#entries.push(entry);
  }

  /** @throws {ServiceBotError} INVALID_OPTION if either router already contains the other, or if a name is taken */
  mount(module: Routes): void {
    if (module.#contains(this) || this.#contains(module)) {
      refuseProblems(["use() got a Router that is already mounted"]);
    }
    for (const name of uniqueNames(module.#allEntries())) {
      for (const other of this.root) refuseTaken(name, other.#allEntries());
    }
    this.#entries.push({ kind: "module", routes: module });
    module.#parents.add(this);
    this.#changed();
  }

  addMiddleware(middleware: Middleware): void {
    this.#middleware.push(middleware);
    this.#changed();
  }

  /** @throws {ServiceBotError} UNKNOWN_EVENT_TYPE; INVALID_OPTION if the type already has a boundary */
  addBoundary(type: string, boundary: Boundary): void {
    if (type !== ALL_TYPES && !this.handles(type)) {
      refuseUnknownType(
        type,
        `For a custom type, first register its handler with on("${type}", …).`,
      );
    }
    if (this.boundaries.has(type)) refuseProblems([`catch(${type}) is already registered`]);
    this.boundaries.set(type, boundary);
  }

  /** The outermost routes around this module, or the module itself if it is not mounted. */
  get root(): readonly Routes[] {
    if (this.#parents.size === 0) return [this];
    return [...this.#parents].flatMap(({ root }) => root);
  }

  /** Returns the options for events of a type. If an option is set more than once, the last value applies. */
  optionsFor(type: string): HandlerOptions {
    return this.#handled.options.get(type) ?? NO_OPTIONS;
  }

  /** Returns whether a type can have a boundary: a platform type, a timer, a cron job, or a type with a handler. */
  handles(type: string): boolean {
    return isEventType(type) || OWN_TYPE.test(type) || this.#handled.options.has(type);
  }

  get handledTypes(): readonly string[] {
    return this.#handled.names;
  }

  /** True if `onUnknown` handles other types, or if the bot has middleware but no handlers. */
  get handlesOtherTypes(): boolean {
    return this.#handled.areOthers;
  }

  get crons(): readonly Cron[] {
    return this.#allEntries().flatMap((entry) =>
      entry.kind === "event" && entry.cron !== undefined ? [entry.cron] : [],
    );
  }

  get handlesTimers(): boolean {
    return this.handledTypes.some((type) => type.startsWith(timerType("")));
  }

  get commands(): readonly Command[] {
    return this.#allEntries().flatMap((entry) =>
      entry.kind === "text" && entry.command !== undefined ? [entry.command] : [],
    );
  }

  /** Names of the expressions that may be slow, such as `hears(/^(a+)+$/)`. */
  get slowPatterns(): readonly string[] {
    return this.#allEntries().flatMap((entry) =>
      entry.kind === "text" && entry.slow !== undefined ? [entry.slow] : [],
    );
  }

  run(route: Route): Promise<void> {
    return route.enter(this.#chainFor(route.context.event.type));
  }

  async observe(error: unknown, route: Route): Promise<void> {
    for (const { observers } of [this, ...route.modules]) {
      for (const observer of observers) await notify(observer, error, route.context);
    }
  }

  /**
   * Returns the boundary for an event whose run failed. Inner modules take precedence over outer ones. Within a module,
   * the boundary for the type takes precedence over the general boundary.
   */
  boundaryFor(type: string, modules: readonly Module[]): Boundary | undefined {
    for (const { boundaries } of [...modules.toReversed(), this]) {
      const boundary = boundaries.get(type) ?? boundaries.get(ALL_TYPES);
      if (boundary !== undefined) return boundary;
    }
    return undefined;
  }

  get #handled(): Types {
    this.#types ??= typesOf(this.#allEntries(), this.#middleware.length > 0);
    return this.#types;
  }

  #changed(): void {
    this.#chains.clear();
    this.#types = undefined;
    for (const parent of this.#parents) parent.#changed();
  }

  #contains(other: Routes): boolean {
    if (other === this) return true;
    return this.#entries.some((entry) => entry.kind === "module" && entry.routes.#contains(other));
  }

  #allEntries(): readonly Exclude<Entry, ModuleEntry>[] {
    return this.#entries.flatMap((entry) =>
      entry.kind === "module" ? entry.routes.#allEntries() : [entry],
    );
  }

  #chainFor(type: string): Chain {
    const key = this.handles(type) ? type : UNKNOWN;
    let chain = this.#chains.get(key);
    if (chain === undefined) {
      chain = wrap(this.#middleware, this.#innermost(key), "use()");
      this.#chains.set(key, chain);
    }
    return chain;
  }

  /** Returns a chain that runs the handler whose text matches or, without a match, the handlers for the type. */
  #innermost(type: string): Chain {
    const handlers = this.#handlersFor(type);
    const rest = handlers.length === 0 ? noHandler : inOrder(handlers);
    const texts = this.#textRoutes(type);
    if (texts.length === 0) return rest;
    return async (route) => await ((await firstMatch(texts, route)) ?? rest)(route);
  }

  /** Returns the handlers for a type. A module's handlers form one chain, wrapped in the module's middleware. */
  #handlersFor(type: string): readonly Chain[] {
    return this.#entries.flatMap((entry) => {
      if (entry.kind === "module") {
        const inner = entry.routes.#handlersFor(type);
        return inner.length === 0 ? [] : [entry.routes.#around(inOrder(inner))];
      }
      const isWanted =
        entry.kind === "event" ? entry.type === type : entry.kind === "unknown" && type === UNKNOWN;
      return isWanted ? [entry.run] : [];
    });
  }

  /** Returns the commands and patterns for a type, with the middleware of their modules. */
  #textRoutes(type: string): readonly TextRoute[] {
    return this.#entries.flatMap((entry) => {
      if (entry.kind === "text")
        return entry.types.includes(type) ? [{ entry, run: entry.run }] : [];
      if (entry.kind !== "module") return [];
      const { routes } = entry;
      return routes
        .#textRoutes(type)
        .map(({ entry, run }) => ({ entry, run: routes.#around(run) }));
    });
  }

  /**
   * Wraps a chain in the module's middleware and scopes its fields. If a run fails, the module stays on the route's
   * list.
   */
  #around(chain: Chain): Chain {
    const inner = wrap(this.#middleware, chain, "use()");
    return async (route) => await route.scoped(async () => await route.enter(inner, this));
  }
}

const NO_OPTIONS: HandlerOptions = {};

const noHandler: Chain = async (route) => {
  const { context } = route;
  const { type } = context.event;
  if (OWN_TYPE.test(type)) throw handlerMissing(type);
  route.hasNoHandler = true;
  context.log.debug("no handler for this type");
};

/** Another version of the bot may have the handler, so this error allows retries. */
function handlerMissing(type: string): ServiceBotError {
  const [kind, name] = type.split(/:(.*)/s);
  const method = kind === "timer" ? "onTimer" : "cron";
  return new ServiceBotError(
    "HANDLER_MISSING",
    `No ${method}("${name}") is registered for this event. Register one, or discard the event.`,
  );
}

/** Logs the observer's error instead of throwing it. */
async function notify(observer: ErrorObserver, error: unknown, context: Context): Promise<void> {
  try {
    await authorCode("onError()", () => observer(error, context));
  } catch (thrown) {
    // The error may quote the user's message, which must not be logged.
    const err = showError(thrown, scrubberOf(context.event));
    context.log.error({ err }, "an onError observer failed");
  }
}

interface Types {
  readonly options: ReadonlyMap<string, HandlerOptions>;
  readonly names: readonly string[];
  readonly areOthers: boolean;
}

function typesOf(entries: readonly Exclude<Entry, ModuleEntry>[], hasMiddleware: boolean): Types {
  const options = new Map<string, HandlerOptions>();
  for (const entry of entries) {
    if (entry.kind === "event") {
      options.set(entry.type, { ...options.get(entry.type), ...entry.options });
    } else if (entry.kind === "text") {
      for (const type of entry.types) options.set(type, options.get(type) ?? NO_OPTIONS);
    }
  }
  const isMiddlewareAlone = options.size === 0 && hasMiddleware;
  const areOthers = isMiddlewareAlone || entries.some(({ kind }) => kind === "unknown");
  return { options, names: [...options.keys()], areOthers };
}

interface UniqueName {
  readonly name: string;
  /** A name may be used once for each event type. */
  readonly type: string;
}

/** Returns the names that must be unique, because a second handler would never run, or would run twice. */
function uniqueNames(entries: readonly Entry[]): readonly UniqueName[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "event" && entry.cron !== undefined) {
      return [{ name: `cron("${entry.cron.name}")`, type: entry.type }];
    }
    if (entry.kind === "text" && entry.command !== undefined) {
      const name = `command("${entry.command.name}")`;
      return entry.types.map((type) => ({ name, type }));
    }
    return [];
  });
}

/** @throws {ServiceBotError} INVALID_OPTION */
function refuseTaken({ name, type }: UniqueName, entries: readonly Entry[]): void {
  const isTaken = uniqueNames(entries).some((other) => other.name === name && other.type === type);
  if (isTaken) refuseProblems([`${name} is already registered`]);
}
