/** Types for a step, its effect, and the search for an effect that an earlier run may have caused. */

import type { Logger } from "../core/logger.ts";
import type { RunEffects } from "../effects/run-effects.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim } from "../inbox/inbox.ts";
import type { StepOutcome } from "../observe/channels.ts";
import type { HeldResult } from "./held-result.ts";

/** One run of an event's handlers. */
export interface Job {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly log: Logger;
  /** Aborts at the handler timeout, when the lease is lost, or when the bot stops. */
  readonly signal: AbortSignal;
  readonly steps: StepRunner;
  /** States and timers to write if the run succeeds. */
  readonly effects: RunEffects;
}

export interface StepRunner {
  run<T>(step: Step<T>): Promise<StepEnd<T>>;
}

/** Steps of a run, with the result that its end records. */
export interface RunSteps extends StepRunner {
  /** Resolves to the result that the run's end must record, or `undefined` if no result is held. */
  leaveResult(): Promise<HeldResult | undefined>;
  /** Resolves once no result is held. */
  recordResult(): Promise<void>;
}

/** An effect that happens once per event, even if the handler runs several times. */
export interface Step<T> {
  /** Unique within one run of a handler. */
  readonly name: string;
  run(): Promise<Effect<T>>;
  /** True if repeating the effect is harmless. */
  readonly repeatable: boolean;
  /**
   * Finds the effect of an earlier run. Without a search, an uncertain step is repeated if it is repeatable, and
   * otherwise its event is parked.
   */
  readonly search?: Search<T> | undefined;
  /** Lifetime of the result, in ms. Afterwards, the step runs again. Unlimited by default. */
  readonly validForMs?: number;
  /**
   * The event's subject, if several events can share it. One of the events runs the step, and the others get
   * `undefined`.
   */
  readonly subject?: Subject | undefined;
}

export interface Effect<T> {
  readonly result: T;
  /** The effect's unique name, derived from its id on the platform. `undefined` if the platform returned no id. */
  readonly ref?: string | undefined;
}

export interface ShownEffect<T> extends Effect<T> {
  readonly ref: string;
}

export interface FoundEffect<T> extends ShownEffect<T> {
  /** True if the effect may be another step's, because the step's own call or an exchange was still in progress. */
  readonly isProvisional?: boolean;
}

/** Result and outcome of a step. `result` is `undefined` if an operator settled the step. */
export interface StepEnd<T> extends Effect<T> {
  readonly outcome: StepOutcome;
}

/** Finds an effect that an earlier run may have caused. */
export interface Search<T> {
  /** Returns the effect's fingerprint, which is recorded before each attempt. It may contain the time. */
  request(): string;
  /** Finds candidates for the intent's effect on the platform. */
  find(intent: Intent): Promise<Candidates<T>>;
  /** Time after the intent during which the request may still be in progress, in ms. */
  readonly inFlightMs: number;
}

/** An effect that an earlier run may have caused, without a recorded result. */
export interface Intent {
  /** The effect's recorded fingerprint. */
  readonly request: string;
  /** Time when the intent was recorded, in ms since 1970 on the bot's clock. */
  readonly startedAt: number;
  /** Age of the intent, in ms. */
  readonly ageMs: number;
  /** Set if a lost run may have caused the effect, with different content and at a different time. */
  readonly lostRun?: LostRun | undefined;
}

/** A run missing from the inbox, because the inbox was restored from an older backup. */
export interface LostRun {
  /**
   * The event's creation time, in ms since 1970 on the platform's clock. `undefined` if unknown. The run's effects are
   * newer.
   */
  readonly eventAt: number | undefined;
  /** Minimum time since the lost process ended, in ms. */
  readonly endedMsAgo: number;
}

/** The bot's own messages, comments or posts that may be an intent's effect. */
export interface Candidates<T> {
  /** Candidates with the intent's content, oldest first. */
  readonly same: readonly ShownEffect<T>[];
  /** Refs of candidates with other content. */
  readonly others: readonly string[];
  /** False if the platform may not show the effect, so that finding no match proves nothing. */
  readonly isComplete: boolean;
}

/** A topic that several events share, such as a comment. */
export interface Subject {
  /** A name that at most one event can claim. */
  readonly ref: string;
  /**
   * A name that at most one event of each type can claim. If it is taken, this event has another subject with the same
   * `ref`.
   */
  readonly kindRef: string;
}
