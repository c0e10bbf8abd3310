/** The words of the folder: a step, its effect, and what is known of an effect that an earlier run may have made. */

import type { Logger } from "../core/logger.ts";
import type { RunEffects } from "../effects/run-effects.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim } from "../inbox/inbox.ts";
import type { StepOutcome } from "../observe/channels.ts";

/** One run of the handlers for one event. */
export interface Job {
  readonly event: AnyEvent;
  readonly claim: Claim;
  readonly log: Logger;
  /** Aborts at the handler timeout, when the lease is lost, and when the bot stops. */
  readonly signal: AbortSignal;
  readonly steps: StepRunner;
  /** States and timers that are written when the run has ended well. */
  readonly effects: RunEffects;
}

/** Runs the steps of one job. */
export interface StepRunner {
  run<T>(step: Step<T>): Promise<StepEnd<T>>;
}

/** An effect that happens once per event, however often the handler runs. */
export interface Step<T> {
  /** Unique within one run of a handler. */
  readonly name: string;
  /** Makes the effect. */
  run(): Promise<Effect<T>>;
  /** True if making the effect twice does no harm. */
  readonly repeatable: boolean;
  /** Recognises the effect afterwards. Without it, an uncertain step is repeated if it may be, and parked otherwise. */
  readonly search?: Search<T> | undefined;
  /** Lifetime of the result in ms. After it the effect is made again. For ever by default. */
  readonly validForMs?: number;
  /** Subject of the event, if several events can have it. One event makes the step, the others get `undefined`. */
  readonly subject?: Subject | undefined;
}

/** An effect on the outside world. */
export interface Effect<T> {
  readonly result: T;
  /** Unique name of the effect, made from the platform's id. `undefined` if the platform gave no id. */
  readonly ref?: string | undefined;
}

/** An effect that the platform shows. */
export interface ShownEffect<T> extends Effect<T> {
  readonly ref: string;
}

/** The end of a step. `result` is `undefined` if a person has settled the step. */
export interface StepEnd<T> extends Effect<T> {
  readonly outcome: StepOutcome;
}

/** Recognises an effect that an earlier run may have made. */
export interface Search<T> {
  /** The fingerprint of the effect as text, recorded before each attempt. It may contain the time. */
  request(): string;
  /** Reads what the platform shows of the intent's effect. */
  find(intent: Intent): Promise<Candidates<T>>;
  /** In ms after the intent. Until then the request may be under way. */
  readonly inFlightMs: number;
}

/** An effect that an earlier run may have made, without a result in the inbox. */
export interface Intent {
  /** The recorded fingerprint of the effect. */
  readonly request: string;
  /** When the intent was recorded, in ms since 1970 on the bot's clock. */
  readonly startedAt: number;
  /** The same as an age, in ms. */
  readonly ageMs: number;
  /** Set if a process unknown to the inbox may have made the effect, with another content and at another time. */
  readonly lostRun?: LostRun | undefined;
}

/** A run that the inbox does not know, because the inbox was restored from an older backup. */
export interface LostRun {
  /** When the event was created, in ms since 1970 on the platform's clock. `undefined` if unknown. Effects are newer. */
  readonly eventAt: number | undefined;
  /** In ms. The lost process ended at least this long ago. */
  readonly endedMsAgo: number;
}

/** The bot's own messages, comments or posts that may be the effect of an intent. */
export interface Candidates<T> {
  /** Candidates with the content of the intent, oldest first. */
  readonly same: readonly ShownEffect<T>[];
  /** Refs of those with another content. */
  readonly others: readonly string[];
  /** False if the platform need not show the effect. No match proves nothing then. */
  readonly isComplete: boolean;
}

/** A topic that several events share, such as a comment. */
export interface Subject {
  /** A name that at most one event can have. */
  readonly ref: string;
  /** The same among events of one type. An event that finds it taken has another subject with the same `ref`. */
  readonly kindRef: string;
}
