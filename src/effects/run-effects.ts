import type { When } from "../core/span.ts";
import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import type { Effects, StateWrite } from "../inbox/effects.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { State } from "./state.ts";
import { Timers, type TimersOptions } from "./timers.ts";

export interface RunEffectsOptions extends TimersOptions {
  readonly inbox: Pick<Inbox, "states" | "timers">;
}

/**
 * States and timers that the handlers of one run set. Nothing is stored before the run has ended well. The inbox then
 * writes all of them in the transaction that ends the event.
 */
export class RunEffects {
  readonly #options: RunEffectsOptions;
  readonly #states = new Map<string, Promise<State>>();
  readonly #timers: Timers;

  constructor(options: RunEffectsOptions) {
    this.#options = options;
    this.#timers = new Timers(options);
  }

  /**
   * Reads a state. Resolves to the same object in the whole run.
   *
   * @param key `undefined` for the state of the lane
   * @throws {ServiceBotError} STATE_MISMATCH, INVALID_OPTION
   */
  async state(key: string | undefined, schema: StandardSchemaV1): Promise<object> {
    return await (await this.#open(key)).read(schema);
  }

  /** Removes a state when the run has ended well. */
  async clearState(key: string | undefined): Promise<void> {
    (await this.#open(key)).clear();
  }

  /**
   * Sets a timer when the run has ended well. Returns its key.
   *
   * @throws {ServiceBotError} INVALID_OPTION
   */
  later(name: string, when: When, data: unknown, key: string | undefined): string {
    return this.#timers.set(name, when, data, key);
  }

  /** Cancels timers when the run has ended well. Resolves to their number. */
  cancel(name: string, key: string | undefined): Promise<number> {
    return this.#timers.cancel(name, key);
  }

  /**
   * Returns what the run leaves; `undefined` for nothing.
   *
   * @throws {ServiceBotError} STATE_INVALID
   */
  async collect(): Promise<Effects | undefined> {
    const states: StateWrite[] = [];
    for (const state of this.#states.values()) {
      const write = await (await state).write();
      if (write !== undefined) states.push(write);
    }
    const { timers, cancels } = this.#timers;
    const isEmpty = states.length + timers.length + cancels.length === 0;
    return isEmpty ? undefined : { states, timers, cancels };
  }

  #open(key = this.#options.claim.lane): Promise<State> {
    let opening = this.#states.get(key);
    if (opening === undefined) {
      opening = this.#load(key);
      this.#states.set(key, opening);
    }
    return opening;
  }

  async #load(key: string): Promise<State> {
    try {
      const [stored] = await this.#options.inbox.states([key]);
      return new State(key, stored);
    } catch (error) {
      // A later read tries again.
      this.#states.delete(key);
      throw error;
    }
  }
}
