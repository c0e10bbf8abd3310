import type { Random } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { outOfRange, refuseProblems } from "../core/ranges.ts";
import { Breaker, type BreakerChange, type OtherBreakers, type Permit } from "./breaker.ts";
import { type BudgetWait, HANDLER_WAIT_MS, RequestBudget, type RequestsStatus } from "./budget.ts";
import { NetworkError } from "./errors.ts";
import type { Hold, Places } from "./places.ts";
import type { RequestKind } from "./waiting.ts";

export interface GateOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** At most so many requests in any 60 seconds, from 1 up. No limit by default. */
  readonly maxRequestsPerMinute?: number | undefined;
  readonly onBudget?: ((wait: BudgetWait) => void) | undefined;
  readonly onBreaker?: ((change: BreakerChange) => void) | undefined;
}

/** What the clients of several processes have together. */
export interface Sharing {
  readonly breakers?: OtherBreakers | undefined;
  /** The places of the budget. */
  readonly places?: Places | undefined;
}

/** What every request passes before it is sent: the budget, where there is one, and the breaker. */
export class Gate {
  readonly #breaker: Breaker;
  readonly #budget: RequestBudget | undefined;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: GateOptions, { breakers: others, places }: Sharing = {}) {
    const { clock, random, maxRequestsPerMinute: perMinute, onBudget, onBreaker } = options;
    refuseProblems([outOfRange("maxRequestsPerMinute", perMinute, { min: 1, whole: true })]);
    this.#breaker = new Breaker({ clock, random, onChange: onBreaker, others });
    if (perMinute !== undefined) {
      this.#budget = new RequestBudget({ perMinute, clock, random, onWait: onBudget, places });
    }
  }

  /** How much of the budget is left; undefined where there is none. */
  get requests(): RequestsStatus | undefined {
    return this.#budget?.status;
  }

  /** How long a handler's request can wait here, in milliseconds. */
  get longestWaitMs(): number {
    return this.#budget === undefined ? 0 : HANDLER_WAIT_MS;
  }

  /**
   * Lets a request out; at once where there is no budget.
   *
   * @param operation method and template of the path, such as `POST /posts`
   * @throws {NetworkError} API_CIRCUIT_OPEN, API_BUDGET_SPENT
   * @throws {ApiError} with `refusesToken`
   * @throws the reason of the signal, once it aborts
   */
  enter(operation: string, kind: RequestKind, signal?: AbortSignal): Permit | Promise<Permit> {
    if (this.#budget !== undefined) {
      return this.#enterInTurn(this.#budget, operation, kind, signal);
    }
    return this.#breaker.mustAsk(operation)
      ? this.#enterAsking(operation)
      : this.#breaker.enter(operation);
  }

  async #enterAsking(operation: string): Promise<Permit> {
    if (this.#breaker.mustAsk(operation)) await this.#breaker.ask(operation);
    return this.#breaker.enter(operation);
  }

  async #enterInTurn(
    budget: RequestBudget,
    operation: string,
    kind: RequestKind,
    signal?: AbortSignal,
  ): Promise<Permit> {
    // What the breaker keeps back now does not wait to be told so.
    this.#breaker.check(operation);
    const place = await budget.take(kind, signal);
    try {
      // Only now: a trial of the platform that waits would keep all others back.
      return withPlace(await this.#enterAsking(operation), place);
    } catch (error) {
      place.giveBack();
      throw error;
    }
  }
}

function withPlace(permit: Permit, place: Hold): Permit {
  return {
    succeeded() {
      permit.succeeded();
      place.end();
    },
    failed(error) {
      permit.failed(error);
      if (error instanceof NetworkError && !error.sent) place.giveBack();
      else place.end();
    },
  };
}
