/**
 * Changes that a run makes to states, timers and a step. They are written under the run's fence, in the
 * transaction that ends the event. A run that has lost its lease writes none.
 */

export interface Effects {
  /** At most one write per key. */
  readonly states: readonly StateWrite[];
  /** Timers to set. Each replaces the timer with the same lane, name and key. */
  readonly timers: readonly NewTimer[];
  /** Timers to remove, before `timers` are set. */
  readonly cancels: readonly TimerName[];
  /** Result of an open step, which `finishStep` would otherwise have recorded. */
  readonly result?: StepResult | undefined;
}

/**
 * Returns whether the next run always finds a step's effect on the platform, so that its result may be lost. True for
 * direct messages.
 */
export function canFindAgain({ ref }: Pick<StepResult, "ref">): boolean {
  return ref?.startsWith("dm:") === true;
}

/** The result of a step's effect. */
export interface StepResult {
  /** Name of the step. */
  readonly step: string;
  /** The result as JSON. */
  readonly result: string;
  /** Id of the effect on the platform, if it has one. */
  readonly ref: string | undefined;
}

/** A change to a state. If the stored version is no longer the version that was read, the change is a conflict. */
export interface StateWrite {
  /** At most 512 bytes, because keys are indexed. */
  readonly key: string;
  /** The new value as JSON. `undefined` deletes the state. */
  readonly value: string | undefined;
  /** Version that was read. `undefined` if there was no state. */
  readonly version: string | undefined;
}

/** A state as the inbox stores it. */
export interface StoredState {
  /** The lane's name, or the key given to `ctx.state`. */
  readonly key: string;
  /** The state as JSON. */
  readonly value: string;
  /** Identifies the event and the run that wrote the state. Every write has a different version. */
  readonly version: string;
  /** In ms since 1970, on the store's clock. */
  readonly updatedAt: number;
}

/** Name of one timer, or of all timers with this lane and name. */
export interface TimerName {
  /** Lane of the event that set the timer. */
  readonly lane: string;
  /** Name given to `ctx.later`. */
  readonly name: string;
  /** `undefined` matches every key. */
  readonly key?: string | undefined;
}

/** A timer to set. Its lane, name and key may have up to 512 bytes each. */
export interface NewTimer {
  /** Lane of the event that sets the timer. */
  readonly lane: string;
  /** Name given to `ctx.later`. */
  readonly name: string;
  /** Distinguishes timers with the same lane and name. */
  readonly key: string;
  /** Delay in whole ms, counted from the end of the run on the store's clock. */
  readonly delayMs: number;
  /** Id of the event that the timer becomes. */
  readonly eventId: string;
  /** JSON that only the schedule reads. */
  readonly body: string;
}

/** A timer that has not become an event. */
export interface StoredTimer extends Omit<NewTimer, "delayMs"> {
  /** In ms since 1970, on the store's clock. */
  readonly dueAt: number;
}

export interface FiredTimers {
  /** Number of timers that have become events. */
  readonly fired: number;
  /** Time until the next timer is due, in ms. 0 if it is due now, `undefined` if there is none. */
  readonly nextInMs: number | undefined;
}
