import type { Clock } from "../core/clock.ts";
import { persist, WRITE_ATTEMPTS } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { ServiceBotError } from "../errors.ts";
import type { Claim, Inbox, StepStart } from "../inbox/inbox.ts";
import { howToSettle, shownName } from "./certainty.ts";
import { copyAsJson } from "./json-value.ts";
import type { Effect, ShownEffect } from "./step.ts";

export interface StepRecordsOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  /** The run that the steps belong to. */
  readonly run: { readonly claim: Claim; readonly log: Logger; readonly signal: AbortSignal };
}

/** Intents and results of the steps of one run, in the inbox. Every write throws LEASE_LOST without the lease. */
export class StepRecords {
  readonly #options: StepRecordsOptions;

  constructor(options: StepRecordsOptions) {
    this.#options = options;
  }

  /** Records the intent, unless there is one. Returns the state of the step before. */
  async begin(step: string, request: string): Promise<StepStart> {
    const { inbox, run } = this.#options;
    return (await inbox.beginStep(run.claim, step, request)) ?? leaseLost(step);
  }

  /** Records the intent anew. A result is forgotten. */
  async renew(step: string, request: string): Promise<void> {
    const { inbox, run } = this.#options;
    if (!(await inbox.restartStep(run.claim, step, request))) leaseLost(step);
  }

  /** Forgets a result, and remembers that its effect did not happen. */
  async forget(step: string): Promise<void> {
    const { inbox, run } = this.#options;
    const restart = () => inbox.restartStep(run.claim, step, "");
    if (!(await this.#persist(step, restart))) leaseLost(step);
    await this.markAbsent(step);
  }

  /** Remembers that the effect of an open step did not happen. */
  async markAbsent(step: string): Promise<void> {
    const { inbox, run } = this.#options;
    await this.#persist(step, () => inbox.dropStep(run.claim, step));
  }

  /**
   * Records a result, and returns it as later runs get it. A result that JSON cannot keep leaves the step open, so that
   * no later run repeats it.
   *
   * @throws {ServiceBotError} STEP_RESULT_INVALID, LEASE_LOST
   */
  async finish<T>(step: string, { result, ref }: Effect<T>): Promise<T> {
    const { inbox, run } = this.#options;
    const text = this.#pack(step, result);
    const write = () => inbox.finishStep(run.claim, step, text, ref);
    if (!(await this.#persist(step, write))) leaseLost(step);
    return unpack(text);
  }

  /** Records an effect that was found. False if another step has it by now. */
  async adopt(step: string, { result, ref }: ShownEffect<unknown>): Promise<boolean> {
    const { inbox, run } = this.#options;
    const text = this.#pack(step, result);
    const adopted = await this.#persist(step, () => inbox.adoptStep(run.claim, step, text, ref));
    return adopted === "lost" ? leaseLost(step) : adopted === "adopted";
  }

  /** Wraps the result, so that a step without one has none again. */
  #pack(step: string, result: unknown): string {
    const copy = copyAsJson(result);
    if (copy.ok) return JSON.stringify({ value: copy.value });
    throw new ServiceBotError(
      "STEP_RESULT_INVALID",
      `The step "${shownName(step)}" ran, but its result cannot be recorded: ${copy.path} ${copy.problem}. ` +
        `Return a value that JSON keeps. The step is not run again by itself. ${howToSettle(this.#options.run.claim.id)}`,
    );
  }

  #persist<T>(step: string, write: () => Promise<T>): Promise<T> {
    const { clock, run } = this.#options;
    return persist(write, {
      clock,
      signal: run.signal,
      tries: () => (run.signal.aborted ? 1 : WRITE_ATTEMPTS),
      failed: (err) => run.log.error({ err, step }, "the outcome of a step cannot be written"),
    });
  }
}

/** Reads a recorded result. A step that a person has settled has none. */
export function unpack<T>(text: string | undefined): T {
  const { value }: { value: T } = JSON.parse(text ?? "{}");
  return value;
}

function leaseLost(step: string): never {
  throw new ServiceBotError(
    "LEASE_LOST",
    `The event was taken over while the step "${step}" ran; this run ends here.`,
  );
}
