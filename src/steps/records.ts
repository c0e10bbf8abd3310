import type { Clock } from "../core/clock.ts";
import { copyAsJson } from "../core/json-value.ts";
import type { Logger } from "../core/logger.ts";
import { persist, WRITE_ATTEMPTS } from "../core/persist.ts";
import { ServiceBotError } from "../errors.ts";
import type { Claim, Inbox, StepStart } from "../inbox/inbox.ts";
import { shown } from "./certainty.ts";
import { type Effect, howToSettle } from "./step.ts";

export interface StepRecordsOptions {
  readonly inbox: Inbox;
  readonly claim: Claim;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The intents and results of the steps of one run. What has lost its lease throws LEASE_LOST. */
export class StepRecords {
  readonly #options: StepRecordsOptions;

  constructor(options: StepRecordsOptions) {
    this.#options = options;
  }

  async begin(step: string, request: string): Promise<StepStart> {
    const { inbox, claim } = this.#options;
    const start = await inbox.beginStep(claim, step, request);
    if (start === undefined) throw leaseLost(step);
    return start;
  }

  async renew(step: string, request: string): Promise<void> {
    const { inbox, claim } = this.#options;
    if (!(await inbox.restartStep(claim, step, request))) throw leaseLost(step);
  }

  /** Forgets an intent of which nothing has come. */
  async drop(step: string): Promise<void> {
    const { inbox, claim } = this.#options;
    await this.#patiently(step, () => inbox.dropStep(claim, step));
  }

  /**
   * Records the result of a step, and returns it as later runs get it. A result that cannot be recorded leaves the
   * step open, so that no later run repeats it.
   *
   * @throws {ServiceBotError} STEP_RESULT_INVALID, LEASE_LOST
   */
  async finish<T>(step: string, { result, ref }: Effect<T>): Promise<T> {
    const { inbox, claim } = this.#options;
    const text = this.#pack(step, result);
    const held = await this.#patiently(step, () => inbox.finishStep(claim, step, text, ref));
    if (!held) throw leaseLost(step);
    return unpack(text);
  }

  /** Records what was found as the result of the step; false when another step has it by now. */
  async adopt(step: string, { result, ref }: Effect<unknown>): Promise<boolean> {
    const { inbox, claim } = this.#options;
    if (ref === undefined) {
      await this.finish(step, { result });
      return true;
    }
    const text = this.#pack(step, result);
    const adoption = await this.#patiently(step, () => inbox.adoptStep(claim, step, text, ref));
    if (adoption === "lost") throw leaseLost(step);
    return adoption === "adopted";
  }

  /** Gives the event a name that at most one event can have. Resolves to `taken` if another event has it. */
  async claim(step: string, ref: string): Promise<"new" | "old" | "taken"> {
    const start = await this.begin(step, "");
    if (start.state === "done") return "old";
    if (await this.adopt(step, { result: undefined, ref })) return "new";
    await this.drop(step);
    return "taken";
  }

  /** Takes the name from the event again. */
  async unclaim(step: string): Promise<void> {
    const { inbox, claim } = this.#options;
    const restart = () => inbox.restartStep(claim, step, "");
    if (!(await this.#patiently(step, restart))) throw leaseLost(step);
    await this.drop(step);
  }

  /** Wraps the result, so that a step without one gives none again. */
  #pack(step: string, result: unknown): string {
    const copy = copyAsJson(result);
    if (copy.ok) return JSON.stringify({ value: copy.value });
    const settle = howToSettle(this.#options.claim.id);
    throw new ServiceBotError(
      "STEP_RESULT_INVALID",
      `The step "${shown(step)}" ran, but its result cannot be recorded: ${copy.path} ${copy.problem}. ` +
        `Return a value that JSON keeps. The step is not run again by itself. ${settle}`,
    );
  }

  #patiently<T>(step: string, write: () => Promise<T>): Promise<T> {
    const { clock, log, signal } = this.#options;
    return persist(write, {
      clock,
      signal,
      tries: () => (signal.aborted ? 1 : WRITE_ATTEMPTS),
      failed: (err) => log.error({ err, step }, "the outcome of a step cannot be written"),
    });
  }
}

/** The result of a step as it was recorded. */
export function unpack<T>(text: string | undefined): T {
  // A person has said that it took effect; what it gave, nobody knows.
  const { value }: { value: T } = JSON.parse(text ?? "{}");
  return value;
}

function leaseLost(step: string): ServiceBotError {
  return new ServiceBotError(
    "LEASE_LOST",
    `The event was taken over while the step "${step}" ran; this run ends here.`,
  );
}
