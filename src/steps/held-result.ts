import type { StepResult } from "../inbox/effects.ts";

/**
 * A result that is not recorded yet. If the run ends in this turn of the event loop, its end records the result in the
 * same transaction. Otherwise, the result is recorded by itself.
 */
export class HeldResult {
  readonly result: StepResult;
  /** Resolves once the result is recorded, or can no longer be recorded. */
  readonly settled: Promise<void>;
  /** Settles {@link settled}. Must be called after the run's end, whether or not the inbox wrote it. */
  readonly settle: () => void;
  readonly #record: () => Promise<void>;
  readonly #turn: NodeJS.Immediate;
  #recording: Promise<void> | undefined;

  constructor(result: StepResult, record: () => Promise<void>) {
    this.result = result;
    this.#record = record;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.settle = resolve;
    // The run's end, or its next step, reports the error.
    this.#turn = setImmediate(() => void this.record().catch(() => undefined));
  }

  /** Records the result by itself, unless it is already being recorded. */
  record(): Promise<void> {
    clearImmediate(this.#turn);
    this.#recording ??= this.#record().finally(this.settle);
    return this.#recording;
  }

  /** Leaves the result to the end of the run. Returns false if it is already being recorded. */
  leave(): boolean {
    clearImmediate(this.#turn);
    return this.#recording === undefined;
  }
}
