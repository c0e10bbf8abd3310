import { ServiceBotError } from "../errors.ts";
import type { Context } from "./context.ts";
import type { Boundary, ErrorObserver, Middleware, Next } from "./handler.ts";
import { PendingTasks } from "./pending-tasks.ts";

/** Part of a run: middleware around handlers. */
export type Chain = (route: Route) => Promise<void>;

/** A router that is mounted in another. */
export interface Module {
  readonly observers: readonly ErrorObserver[];
  /** By type; of all other types under "". */
  readonly boundaries: ReadonlyMap<string, Boundary>;
}

/** The way of one event through middleware, modules and handlers. */
export class Route {
  readonly context: Context;
  /** The bot's own; `undefined` if unknown. */
  readonly username: string | undefined;
  /** The modules whose handlers are at work, the outermost first. */
  readonly modules: Module[] = [];
  /** Fields that middleware has added to the context. */
  #added: Record<string, unknown> = {};
  /** Error of the innermost part of the run that has failed. */
  #failure: unknown;

  /** @param username of the bot; `undefined` if unknown */
  constructor(context: Context, username?: string) {
    this.context = context;
    this.username = username;
  }

  /** @throws {ServiceBotError} INVALID_OPTION for a name that the context has by itself */
  add(fields: object): void {
    for (const name of Object.keys(fields)) {
      if (name in this.context && !Object.hasOwn(this.#added, name)) throw taken(name);
    }
    Object.assign(this.#added, fields);
    Object.assign(this.context, fields);
  }

  /**
   * Runs a chain of a module, or of none. A chain that fails keeps the modules at work for their boundaries, except those whose
   * error was swallowed before.
   */
  async enter(chain: Chain, ...entered: readonly Module[]): Promise<void> {
    const { modules } = this;
    const outside = modules.length;
    const inside = modules.push(...entered);
    try {
      await chain(this);
    } catch (error) {
      if (this.#failure !== error) modules.length = inside;
      this.#failure = error;
      throw error;
    }
    modules.length = outside;
  }

  /** Runs a chain, whose fields no later one has. If it fails they stay, for the boundary. */
  async scoped(chain: Chain): Promise<void> {
    const before = { ...this.#added };
    await chain(this);
    for (const name of Object.keys(this.#added)) Reflect.deleteProperty(this.context, name);
    this.#added = before;
    Object.assign(this.context, before);
  }

  /** Returns the way of the same event with another context, which has the same fields of middleware. */
  continueWith(context: Context): Route {
    const route = new Route(context, this.username);
    route.add(this.#added);
    route.modules.push(...this.modules);
    return route;
  }

  /** Replaces the payload by what a schema returned. */
  setPayload(payload: unknown): void {
    Object.assign(this.context, { payload });
  }
}

/** Runs chains one after the other. */
export function inOrder(chains: readonly Chain[]): Chain {
  const [only] = chains;
  if (only !== undefined && chains.length === 1) return only;
  return async (route) => {
    for (const chain of chains) await chain(route);
  };
}

/**
 * Nests middleware around a chain, the first one outermost. A `next()` that was not awaited is waited for all the same,
 * and its failure is the middleware's.
 */
export function wrap(middleware: readonly Middleware[], innermost: Chain): Chain {
  return middleware.reduceRight<Chain>((inner, current) => {
    return async (route) => {
      const tasks = new PendingTasks();
      let isEntered = false;
      const next = (fields?: object) =>
        tasks.start(async () => {
          if (isEntered) throw calledTwice();
          isEntered = true;
          if (fields !== undefined) route.add(fields);
          await inner(route);
        });
      await tasks.run(() => current(route.context, next as Next));
    };
  }, innermost);
}

function calledTwice(): ServiceBotError {
  return new ServiceBotError(
    "NEXT_CALLED_TWICE",
    "A middleware called next() twice. Call next() once, and await it.",
  );
}

function taken(name: string): ServiceBotError {
  return new ServiceBotError(
    "INVALID_OPTION",
    `next({ ${name} }) would replace ctx.${name}, which the context has by itself. Choose another name.`,
  );
}
