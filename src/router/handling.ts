import type { Client } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import type { LaneOf } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "../steps/job.ts";
import { PendingTasks } from "../steps/pending-tasks.ts";
import type { StepEnd } from "../steps/step.ts";
import { type Context, createContext } from "./context.ts";
import { LoopGuard, type LoopGuardOptions } from "./loop-guard.ts";
import { OwnAccount } from "./own-account.ts";
import type { Router } from "./router.ts";

export interface HandlingOptions {
  readonly router: Router;
  readonly client: Client;
  readonly clock: Clock;
  readonly laneOf?: LaneOf;
  readonly loopGuard?: LoopGuardOptions | false | undefined;
}

/** Parts of a bot that each run uses. */
interface Parts {
  readonly router: Router;
  readonly client: Client;
  readonly account: OwnAccount;
  readonly guard: LoopGuard | undefined;
}

/** Runs the handlers of a bot, except for events that it caused itself or that the loop guard holds back. */
export class Handling {
  readonly #parts: Parts;

  constructor({ router, client, clock, laneOf, loopGuard = {} }: HandlingOptions) {
    const now = () => client.platformNow() ?? clock.now();
    this.#parts = {
      router,
      client,
      account: new OwnAccount(client, clock),
      guard: loopGuard === false ? undefined : new LoopGuard(loopGuard, { now, laneOf }),
    };
  }

  /** Begins the run of one job. */
  begin(job: Job<AnyEvent>): HandlerRun {
    return new HandlerRun(job, this.#parts);
  }
}

/** Steps of the framework's own writes. Steps of `ctx.step` are named `step/…`. */
const WRITE = /^(reply|comment|post)\//;

/** One run of the handlers for one event. */
export class HandlerRun {
  readonly #job: Job<AnyEvent>;
  readonly #parts: Parts;
  /** `undefined` until a handler may have it. */
  #context: Context | undefined;

  constructor(job: Job<AnyEvent>, parts: Parts) {
    this.#job = job;
    this.#parts = parts;
  }

  /** Finds out who the bot is, within 2 s; `undefined` if the event need not wait. */
  prepare(): Promise<void> | undefined {
    return this.#parts.account.learn(this.#job);
  }

  /**
   * Runs the middleware and the handlers of the event's type. Replies and steps that were not awaited belong to the run: it
   * ends when they do, and fails when one does.
   */
  async run(): Promise<void> {
    const { router, client, account, guard } = this.#parts;
    if (account.hasCaused(this.#job.event)) {
      this.#job.log.debug("caused by the bot itself: no handler runs");
      return;
    }
    guard?.check(this.#job);
    const tasks = new PendingTasks();
    const context = createContext(this.#job, client, tasks);
    this.#context = context;
    await tasks.run(() => router.run(context));
  }

  /** Notifies the observers of the error that ended the run. */
  async failed(error: unknown): Promise<void> {
    if (this.#context !== undefined) await this.#parts.router.observe(error, this.#context);
  }

  /** Counts an answer, and learns who the bot is from what it wrote. */
  stepEnded(name: string, { outcome, result }: StepEnd<unknown>): void {
    const kind = WRITE.exec(name)?.[1];
    if (kind === undefined || (outcome !== "made" && outcome !== "found")) return;
    const { account, guard } = this.#parts;
    account.noteWrite(result);
    if (kind === "post") guard?.notePost(this.#job.event);
    else guard?.noteAnswer(this.#job.event);
  }
}
