import type { Client } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import type { LaneOf } from "../events/lane.ts";
import { isOwn } from "../events/own.ts";
import type { Job } from "../steps/step.ts";
import { Route } from "./chain.ts";
import { createContext, type WriteEnd } from "./context.ts";
import { LoopGuard, type LoopGuardOptions, OwnAccount } from "./loops.ts";
import { PendingTasks } from "./pending-tasks.ts";
import type { Routes } from "./routes.ts";

export interface HandlingOptions {
  readonly routes: Routes;
  readonly client: Client;
  readonly clock: Clock;
  readonly laneOf?: LaneOf;
  readonly loopGuard?: LoopGuardOptions | false | undefined;
  /** Schema of the state of a conversation. `undefined` for a bot without state. */
  readonly state?: StandardSchemaV1 | undefined;
}

/** Runs the handlers of a bot, except for events that it caused itself or that the loop guard holds back. */
export class Handling {
  readonly routes: Routes;
  readonly client: Client;
  readonly account: OwnAccount;
  readonly guard: LoopGuard | undefined;
  readonly state: StandardSchemaV1 | undefined;

  constructor({ routes, client, clock, laneOf, loopGuard = {}, state }: HandlingOptions) {
    this.routes = routes;
    this.client = client;
    this.state = state;
    this.account = new OwnAccount(client, clock);
    this.guard =
      loopGuard === false ? undefined : new LoopGuard(loopGuard, { platformClock: client, laneOf });
  }

  /** Begins the run of one job. */
  begin(job: Job): HandlerRun {
    return new HandlerRun(job, this);
  }
}

/** One run of the handlers for one event. */
export class HandlerRun {
  readonly #job: Job;
  readonly #handling: Handling;
  /** `undefined` until a handler may have it. */
  #route: Route | undefined;

  constructor(job: Job, handling: Handling) {
    this.#job = job;
    this.#handling = handling;
  }

  /** Finds out the bot's username, within 2 s; `undefined` if the event need not wait. */
  prepare(): Promise<void> | undefined {
    const { event } = this.#job;
    return isOwn(event.type) ? undefined : this.#handling.account.learn(this.#job);
  }

  /**
   * Runs the middleware and the handlers of the event's type. Replies and steps belong to the run even if not awaited: the
   * run ends after the last, and fails with any of them.
   */
  async run(): Promise<void> {
    const { routes, client, account, state: stateSchema } = this.#handling;
    if (!this.#isWanted()) return;
    const tasks = new PendingTasks();
    const onWrite = (write: WriteEnd) => this.#noteWrite(write);
    const { handledTypes } = routes;
    const context = createContext(this.#job, client, tasks, onWrite, { stateSchema, handledTypes });
    const route = new Route(context, account.username);
    this.#route = route;
    await tasks.run(() => routes.run(route));
  }

  /**
   * Returns false for an event that the bot has caused itself. Timers and cron moments are no activity of an account.
   *
   * @throws {RetryLater} while the loop guard holds the event back
   */
  #isWanted(): boolean {
    const { account, guard } = this.#handling;
    const { event } = this.#job;
    if (isOwn(event.type)) return true;
    if (account.hasCaused(event)) {
      this.#job.log.debug("caused by the bot itself: no handler runs");
      return false;
    }
    guard?.check(this.#job);
    return true;
  }

  /** Notifies the observers of the error that ended the run. */
  async failed(error: unknown): Promise<void> {
    if (this.#route !== undefined) await this.#handling.routes.observe(error, this.#route);
  }

  /** Counts the answer, and learns the bot's username from it. */
  #noteWrite({ kind, result }: WriteEnd): void {
    const { account, guard } = this.#handling;
    account.noteWrite(result);
    guard?.noteAnswer(this.#job.event, { isPost: kind === "post" });
  }
}
