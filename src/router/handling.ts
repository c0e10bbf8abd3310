import type { Client } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import { authorCode } from "../core/loop-watch.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import type { LaneOf } from "../events/lane.ts";
import { isOwn } from "../events/own.ts";
import type { Job } from "../steps/step.ts";
import { type Chain, Route } from "./chain.ts";
import { LoopGuard, type LoopGuardOptions } from "./loop-guard.ts";
import { OwnAccount } from "./own-account.ts";
import { ContextTasks } from "./pending-tasks.ts";
import type { Routes } from "./routes.ts";
import { type ContextRun, createContext } from "./run-context.ts";
import type { WriteEnd } from "./run-writes.ts";

export interface HandlersOptions {
  readonly routes: Routes;
  readonly client: Client;
  readonly clock: Clock;
  readonly laneOf?: LaneOf;
  readonly loopGuard?: LoopGuardOptions | false | undefined;
  /** Schema for a conversation's state. `undefined` for a bot without state. */
  readonly state?: StandardSchemaV1 | undefined;
}

/** A bot's handlers, behind the guards against loops. */
export class Handlers {
  readonly routes: Routes;
  readonly client: Client;
  readonly account: OwnAccount;
  readonly guard: LoopGuard | undefined;
  readonly stateSchema: StandardSchemaV1 | undefined;

  constructor({ routes, client, clock, laneOf, loopGuard = {}, state }: HandlersOptions) {
    this.routes = routes;
    this.client = client;
    this.stateSchema = state;
    this.account = new OwnAccount(client, clock);
    this.guard =
      loopGuard === false ? undefined : new LoopGuard(loopGuard, { platformClock: client, laneOf });
  }

  begin(job: Job): EventHandling {
    return new EventHandling(job, this);
  }
}

/** A boundary to run instead of the handlers. */
interface LastWord {
  readonly chain: Chain;
  /** The failed run's route. `undefined` if its handlers never started. */
  readonly after: Route | undefined;
}

/** One run of the handlers for an event, or of its boundary. */
export class EventHandling implements ContextRun {
  readonly job: Job;
  readonly tasks: ContextTasks = new ContextTasks();
  readonly #handlers: Handlers;
  readonly #lastWord: LastWord | undefined;
  /** `undefined` until the handlers start. */
  #route: Route | undefined;
  #isOfOwnAccount = false;

  constructor(job: Job, handlers: Handlers, lastWord?: LastWord) {
    this.job = job;
    this.#handlers = handlers;
    this.#lastWord = lastWord;
  }

  get client(): Client {
    return this.#handlers.client;
  }

  get stateSchema(): StandardSchemaV1 | undefined {
    return this.#handlers.stateSchema;
  }

  get handledTypes(): readonly string[] {
    return this.#handlers.routes.handledTypes;
  }

  /** A boundary's steps need their own names, because the handlers' steps have used the unprefixed names. */
  get prefix(): string {
    return this.#lastWord === undefined ? "" : "catch/";
  }

  /** Reason why no handler ran. `undefined` if one did. */
  get skipped(): "own_account" | "no_handler" | undefined {
    if (this.#isOfOwnAccount) return "own_account";
    return this.#route?.hasNoHandler ? "no_handler" : undefined;
  }

  /** Requests the bot's username, waiting up to 2 s. Returns `undefined` if the event need not wait. */
  prepare(): Promise<void> | undefined {
    return isOwn(this.job.event.type) ? undefined : this.#handlers.account.learn(this.job);
  }

  /**
   * Runs the middleware and the handlers for the event's type. Waits for all replies and steps, even if the handler
   * does not await them. Fails if any of them fails.
   */
  run(): Promise<void> {
    const { routes, account } = this.#handlers;
    const lastWord = this.#lastWord;
    if (lastWord === undefined && !this.#isWanted()) return Promise.resolve();
    const context = createContext(this);
    const route = lastWord?.after?.continueWith(context) ?? new Route(context, account.username);
    this.#route = route;
    return this.tasks.run(() =>
      lastWord === undefined ? routes.run(route) : lastWord.chain(route),
    );
  }

  /**
   * Returns false if the bot itself caused the event. Timers and cron ticks do not belong to any account.
   *
   * @throws {RetryLater} while the loop guard holds the event back
   */
  #isWanted(): boolean {
    const { account, guard } = this.#handlers;
    const { event } = this.job;
    if (isOwn(event.type)) return true;
    if (account.hasCaused(event)) {
      this.job.log.debug("skipped because the bot itself caused the event");
      this.#isOfOwnAccount = true;
      return false;
    }
    guard?.check(this.job);
    return true;
  }

  onWrite({ kind, result }: WriteEnd): void {
    const { account, guard } = this.#handlers;
    account.noteWrite(result);
    guard?.noteAnswer(this.job.event, { isPost: kind === "post" });
  }

  async failed(error: unknown): Promise<void> {
    if (this.#lastWord === undefined && this.#route !== undefined)
      await this.#handlers.routes.observe(error, this.#route);
  }

  /**
   * Returns a run of the boundary for the error that made the event a dead letter, or `undefined` if there is no
   * boundary. If the handlers never started, because the process ended during each run, the bot's own boundary applies.
   */
  boundary(error: unknown): { begin(job: Job): EventHandling } | undefined {
    const { routes, account } = this.#handlers;
    const { event } = this.job;
    if (!isOwn(event.type) && account.hasCaused(event)) return undefined;
    const boundary = routes.boundaryFor(event.type, this.#route?.modules ?? []);
    if (boundary === undefined) return undefined;
    const chain: Chain = async ({ context }) => {
      await authorCode("catch()", () => boundary(error, context));
    };
    const lastWord = { chain, after: this.#route };
    return { begin: (job) => new EventHandling(job, this.#handlers, lastWord) };
  }
}
