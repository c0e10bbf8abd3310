import { type Clock, sleep } from "../core/clock.ts";
import {
  type Effect,
  howToSettle,
  type OpenIntent,
  type Step,
  type StepRunner,
} from "../core/step.ts";
import { ApiError, NetworkError, ServiceBotError } from "../errors.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";

/** What the steps of one run share. */
export interface StepScope {
  readonly inbox: Inbox;
  readonly claim: Claim;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Steps with a durable intent before the effect and a durable result after it. A run that finds an
 * intent without a result looks for the effect before it makes it again: the platform's API has no
 * idempotency keys, so this is what keeps a retried handler from saying things twice.
 */
export class DurableSteps implements StepRunner {
  readonly #scope: StepScope;
  readonly #names = new Set<string>();
  /** Found again in this run, and perhaps not yet recorded. */
  readonly #adopted = new Set<string>();
  #searching: Promise<unknown> = Promise.resolve();

  constructor(scope: StepScope) {
    this.#scope = scope;
  }

  /** @throws {ServiceBotError} STEP_DUPLICATE, STEP_UNCERTAIN, LEASE_LOST, and what the step throws */
  async run<T>(step: Step<T>): Promise<T> {
    const { inbox, claim, clock, signal } = this.#scope;
    signal.throwIfAborted();
    this.#reserve(step.name);
    const start = await inbox.beginStep(claim, step.name, step.request);
    if (start === undefined) throw leaseLost(step.name);
    if (start.state === "done") {
      const { validForMs = Number.POSITIVE_INFINITY } = step;
      if (clock.now() - start.startedAt < validForMs) return unpack<T>(start.result);
      await this.#held(step, inbox.restartStep(claim, step.name, step.request));
    }
    if (start.state === "open") {
      const found = await this.#resolve(step, start);
      if (found !== undefined) return await this.#finish(step, found);
      await this.#held(step, inbox.restartStep(claim, step.name, step.request));
    }
    return await this.#finish(step, await this.#attempt(step));
  }

  #reserve(name: string): void {
    if (this.#names.has(name)) {
      throw new ServiceBotError(
        "STEP_DUPLICATE",
        `The step "${name.replace(/^step\//, "")}" ran already in this handler. Give each step its own name, ` +
          "for instance by adding what it is about.",
      );
    }
    this.#names.add(name);
  }

  async #attempt<T>(step: Step<T>): Promise<Effect<T>> {
    try {
      return await step.run();
    } catch (error) {
      const { inbox, claim, signal } = this.#scope;
      // Where nothing can have happened, the next run need not look for it. An abort leaves that open:
      // it may have come while the request was under way.
      if (!signal.aborted && !mayHaveHappened(error)) await inbox.dropStep(claim, step.name);
      throw error;
    }
  }

  async #finish<T>(step: Step<T>, effect: Effect<T>): Promise<T> {
    const { inbox, claim } = this.#scope;
    await this.#held(step, inbox.finishStep(claim, step.name, pack(effect.result), effect.ref));
    return effect.result;
  }

  async #held(step: Step<unknown>, write: Promise<boolean>): Promise<void> {
    if (!(await write)) throw leaseLost(step.name);
  }

  /** One search at a time, so that two steps with one text do not both take the same message. */
  #resolve<T>(
    step: Step<T>,
    open: { readonly request: string; readonly startedAt: number },
  ): Promise<Effect<T> | undefined> {
    const search = this.#searching.then(() => this.#search(step, open));
    this.#searching = search.catch(() => undefined);
    return search;
  }

  async #search<T>(
    step: Step<T>,
    open: { readonly request: string; readonly startedAt: number },
  ): Promise<Effect<T> | undefined> {
    if (step.find === undefined) {
      if (step.repeatable) return undefined;
      throw uncertain(step.name, this.#scope.claim.id);
    }
    const { clock, signal, inbox } = this.#scope;
    const stillInFlightMs = open.startedAt + step.inFlightMs - clock.now();
    if (stillInFlightMs > 0) await sleep(clock, stillInFlightMs, signal);
    signal.throwIfAborted();
    const intent: OpenIntent = {
      ...open,
      claimed: async (refs) => new Set([...(await inbox.claimedRefs(refs)), ...this.#adopted]),
    };
    const found = await step.find(intent);
    if (found?.ref !== undefined) this.#adopted.add(found.ref);
    return found;
  }
}

/** True when an error leaves open whether the platform did what it was asked to do. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof NetworkError) return error.sent;
  if (error instanceof ApiError) return error.status >= 500 || error.status === 408;
  if (error instanceof ServiceBotError) return error.code === "API_INVALID_RESPONSE";
  return isAbort(error);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

/** Wrapped, so that a step without a result gives none again. */
function pack(result: unknown): string {
  return JSON.stringify({ value: result });
}

function unpack<T>(text: string | undefined): T {
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

function uncertain(step: string, event: string): ServiceBotError {
  return new ServiceBotError(
    "STEP_UNCERTAIN",
    `The process ended inside the step "${step.replace(/^step\//, "")}", and nobody can tell whether it took effect. ` +
      `${howToSettle(event)} Mark the step as repeatable if doing it twice does no harm.`,
  );
}
