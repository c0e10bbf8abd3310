import { type Clock, persist, WRITE_ATTEMPTS } from "../core/clock.ts";
import { toLosslessJson } from "../core/lossless-json.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import type { StepResult } from "../inbox/effects.ts";
import type { Inbox, StepStart } from "../inbox/inbox.ts";
import { howToSettle } from "./reconcile.ts";
import type { Effect, FoundEffect, Job } from "./step.ts";

export interface StepRecordsOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly job: Pick<Job, "claim" | "log" | "signal">;
}

/** Intents and results of one run's steps, stored in the inbox. Every write throws LEASE_LOST if the lease is lost. */
export class StepRecords {
  readonly #options: StepRecordsOptions;

  constructor(options: StepRecordsOptions) {
    this.#options = options;
  }

  /** Records the intent unless one exists. Returns the step's previous state. */
  async begin(step: string, request: string): Promise<StepStart> {
    const { inbox, job } = this.#options;
    return (await inbox.beginStep(job.claim, step, request)) ?? leaseLost(step);
  }

  /** Records a new intent and deletes any result. */
  async renew(step: string, request: string): Promise<void> {
    const { inbox, job } = this.#options;
    if (!(await inbox.restartStep(job.claim, step, request))) leaseLost(step);
  }

  /** Deletes a result, and records that the effect did not happen. */
  async forget(step: string): Promise<void> {
    const { inbox, job } = this.#options;
    const restart = () => inbox.restartStep(job.claim, step, "");
    if (!(await this.#persist(step, restart))) leaseLost(step);
    await this.markAbsent(step);
  }

  /** Records that the effect of an open step did not happen. */
  async markAbsent(step: string): Promise<void> {
    const { inbox, job } = this.#options;
    await this.#persist(step, () => inbox.dropStep(job.claim, step));
  }

  /**
   * Returns the result of a step in the form in which the inbox stores it. If the result is not JSON, the step stays
   * open, so no later run repeats the effect.
   *
   * @throws {ServiceBotError} STEP_RESULT_INVALID
   */
  resultOf(step: string, { result, ref }: Effect<unknown>): StepResult {
    return { step, result: packResult(result, step, this.#options.job.claim.id), ref };
  }

  async finish({ step, result, ref }: StepResult): Promise<void> {
    const { inbox, job } = this.#options;
    const write = () => inbox.finishStep(job.claim, step, result, ref);
    if (!(await this.#persist(step, write))) leaseLost(step);
  }

  /**
   * Records an effect found on the platform. Resolves to false if another step has claimed the effect in the meantime.
   */
  async reconcile(
    step: string,
    { result, ref, isProvisional }: FoundEffect<unknown>,
  ): Promise<boolean> {
    const { inbox, job } = this.#options;
    const text = packResult(result, step, job.claim.id);
    const adopted = await this.#persist(step, () =>
      inbox.reconcileStep(job.claim, step, text, ref, isProvisional),
    );
    return adopted === "lost" ? leaseLost(step) : adopted === "adopted";
  }

  #persist<T>(step: string, write: () => Promise<T>): Promise<T> {
    const { clock, job } = this.#options;
    return persist(write, {
      clock,
      signal: job.signal,
      tries: () => (job.signal.aborted ? 1 : WRITE_ATTEMPTS),
      failed: (err) => job.log.error({ err, step }, "could not record the outcome of a step"),
    });
  }
}

function leaseLost(step: string): never {
  throw new ServiceBotError(
    "LEASE_LOST",
    `Another instance took over the event during the step "${step}".`,
  );
}

/** Returns the step's name as the handler wrote it. */
export function displayName(step: string): string {
  return step.replace(/^step\//, "");
}

/** Parses a recorded result. A step that an operator settled has no result. */
export function unpackResult<T>(text: string | undefined): T {
  const { value }: { value: T } = JSON.parse(text ?? "{}");
  return value;
}

/** Maximum size of a result, in bytes. One row contains it, and `service-bot inbox show` prints it. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/** Serializes a result. Wraps it in an object, so that `undefined` survives the round trip. */
function packResult(result: unknown, step: string, event: string): string {
  try {
    const text = toLosslessJson(result);
    if (text === undefined) return "{}";
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_RESULT_BYTES) {
      throw new RangeError(`it has ${bytes} bytes; the limit is ${MAX_RESULT_BYTES}`);
    }
    return `{"value":${text}}`;
  } catch (error) {
    throw new ServiceBotError(
      "STEP_RESULT_INVALID",
      `The step "${displayName(step)}" succeeded, but the bot cannot store its result: ${messageOf(error)}. ` +
        `Return a JSON value. The bot does not run the step again. ${howToSettle(event)}`,
    );
  }
}
