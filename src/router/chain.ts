import { authorCode } from "../core/loop-watch.ts";
import { copyFields } from "../core/option-checks.ts";
import { ServiceBotError } from "../errors.ts";
import type { Context } from "./context.ts";
import type { Boundary, ErrorObserver, Middleware, Next } from "./handler.ts";
import { PendingTasks } from "./pending-tasks.ts";

/** Part of a run: handlers wrapped in middleware. */
export type Chain = (route: Route) => Promise<void>;

export interface Module {
  readonly observers: readonly ErrorObserver[];
  /** Boundaries by event type. The key "" covers all other types. */
  readonly boundaries: ReadonlyMap<string, Boundary>;
}

/** One event's path through middleware, modules and handlers. */
export class Route {
  readonly context: Context;
  readonly username: string | undefined;
  /** Modules whose handlers are running, outermost first. */
  readonly modules: Module[] = [];
  /** True if no handler exists for the event. */
  hasNoHandler = false;
  #added: Record<string, unknown> = {};
  #failure: unknown;

  constructor(context: Context, username?: string) {
    this.context = context;
    this.username = username;
  }

  /** @throws {ServiceBotError} INVALID_OPTION, for example if the context already has a field with that name */
  add(given: object): void {
    const fields = copyFields("fields", given);
    for (const name of Object.keys(fields)) {
      if (name in this.context && !Object.hasOwn(this.#added, name)) throw fieldConflict(name);
    }
    Object.assign(this.#added, fields);
    Object.assign(this.context, fields);
  }

  /**
   * Runs a chain inside the given module. If the chain fails, its modules stay on the list, because their boundaries
   * may handle the error. Modules leave the list once the chain has caught their error.
   */
  async enter(chain: Chain, entered?: Module): Promise<void> {
    const { modules } = this;
    const outside = modules.length;
    if (entered !== undefined) modules.push(entered);
    const inside = modules.length;
    try {
      await chain(this);
    } catch (error) {
      if (this.#failure !== error) modules.length = inside;
      this.#failure = error;
      throw error;
    }
    modules.length = outside;
  }

  /** Runs a chain, then removes the fields that it added. If the chain fails, the fields stay for the boundary. */
  async scoped(chain: Chain): Promise<void> {
    const before = { ...this.#added };
    await chain(this);
    for (const name of Object.keys(this.#added)) Reflect.deleteProperty(this.context, name);
    this.#added = before;
    Object.assign(this.context, before);
  }

  continueWith(context: Context): Route {
    const route = new Route(context, this.username);
    route.add(this.#added);
    for (const module of this.modules) route.modules.push(module);
    return route;
  }

  setPayload(payload: unknown): void {
    Object.assign(this.context, { payload });
  }
}

export function inOrder(chains: readonly Chain[]): Chain {
  const [only] = chains;
  if (only !== undefined && chains.length === 1) return only;
  return async (route) => {
    for (const chain of chains) await chain(route);
  };
}

/**
 * Nests middleware around a chain, with the first middleware outermost. Waits for `next()` even if the middleware did
 * not await it. If `next()` fails, the middleware fails with the same error.
 *
 * @param what names the call that registered the middleware, such as `use()`
 */
export function wrap(middleware: readonly Middleware[], innermost: Chain, what: string): Chain {
  return middleware.reduceRight<Chain>((inner, current) => {
    const name = `${what} ${current.name}`.trimEnd();
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
      await tasks.run(() => authorCode(name, () => current(route.context, next as Next)));
    };
  }, innermost);
}

function calledTwice(): ServiceBotError {
  return new ServiceBotError(
    "NEXT_CALLED_TWICE",
    "A middleware called next() twice. Call next() once, and await it.",
  );
}

function fieldConflict(name: string): ServiceBotError {
  return new ServiceBotError(
    "INVALID_OPTION",
    `next({ ${name} }) would replace ctx.${name}, which already exists. Choose another name.`,
  );
}
