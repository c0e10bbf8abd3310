import { checkRunBytes, checkRunItems } from "../core/run-limits.ts";
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
 * State writes and timers that one run's handlers have requested. The inbox writes all of them in the transaction that
 * completes the event. A failed run writes none.
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
   * Reads a state. Resolves to the same object for the whole run.
   *
   * @param key `undefined` for the lane's state
   * @throws {ServiceBotError} STATE_MISMATCH, INVALID_OPTION, RUN_TOO_LARGE
   */
  async state(key: string | undefined, schema: StandardSchemaV1): Promise<object> {
    return await (await this.#open(key)).read(schema);
  }

  /** Deletes a state once the run succeeds. */
  async clearState(key: string | undefined): Promise<void> {
    (await this.#open(key)).clear();
  }

  /**
   * Sets a timer once the run succeeds. Returns the timer's key.
   *
   * @throws {ServiceBotError} INVALID_OPTION, RUN_TOO_LARGE
   */
  later(name: string, when: When, data: unknown, key: string | undefined): string {
    return this.#timers.set(name, when, data, key);
  }

  /** Cancels timers once the run succeeds. Resolves to the number of timers. */
  cancel(name: string, key: string | undefined): Promise<number> {
    return this.#timers.cancel(name, key);
  }

  /**
   * Resolves to the run's effects, or `undefined` if there are none.
   *
   * @throws {ServiceBotError} STATE_INVALID, RUN_TOO_LARGE
   */
  async collect(): Promise<Effects | undefined> {
    const states: StateWrite[] = [];
    let { bytes } = this.#timers;
    for (const state of this.#states.values()) {
      const write = await (await state).write();
      if (write === undefined) continue;
      states.push(write);
      bytes += Buffer.byteLength(write.value ?? "");
      checkRunBytes(bytes);
    }
    const { timers, cancels } = this.#timers;
    const isEmpty = states.length + timers.length + cancels.length === 0;
    return isEmpty ? undefined : { states, timers, cancels };
  }

  #open(key = this.#options.claim.lane): Promise<State> {
    let opening = this.#states.get(key);
    if (opening === undefined) {
      checkRunItems(this.#states.size + 1, "states");
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
      // Allow a later read to try again.
      this.#states.delete(key);
      throw error;
    }
  }
}
