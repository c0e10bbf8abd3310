/**
 * Steps are effects that happen once per event, however often its handler runs. The router describes
 * them, the dispatcher runs them with a durable intent before and a durable result after.
 */

/** What an effect gave. `ref` is the platform's id of what it made, where it has one. */
export interface Effect<T> {
  readonly result: T;
  readonly ref?: string | undefined;
}

/** An effect that an earlier run of the handler began, and of which no result is known. */
export interface OpenIntent {
  /** What was about to be done, as {@link Step.request} gave it to that run. */
  readonly request: string;
  /** When, in milliseconds since 1970 on our clock. */
  readonly startedAt: number;
  /** Set where a process may have done it of whose intents nothing is known. */
  readonly past?: OpenPast | undefined;
  /** Which of these platform ids belong to other steps. */
  claimed(refs: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * The requests of steps that other processes are in the middle of: what one of them has made is not claimed yet.
   * To be asked after what is there was read, and before what is claimed.
   */
  underWay(): Promise<readonly string[]>;
}

/**
 * What a process may have done for an event of which the inbox knows nothing: it came from a backup that is older. Such a
 * step has no intent of its time, and what would be said now need not be what was said then.
 */
export interface Past {
  /** When the event was made, in ms since 1970 on the platform's clock; undefined: unknown. What came of it is newer. */
  readonly since: number | undefined;
  /** How long ago, at the least, that process was at work, in milliseconds. */
  readonly ageMs: number;
  /** True when what cannot be told is to be taken for not done. */
  readonly assumeAbsent: boolean;
}

export interface OpenPast extends Past {
  /** For how long it has been looked for, in milliseconds. */
  readonly lookedForMs: number;
}

/** Something that several events are about, such as a comment. */
export interface Subject {
  /** A name that at most one event can have. */
  readonly ref: string;
  /** The same among events of one kind. An event that finds it taken is about another subject, because none has two of a kind. */
  readonly kindRef: string;
}

export interface Step<T> {
  /** Unique within one run of a handler. */
  readonly name: string;
  /**
   * What is about to be done, as text: recorded first, so that it can be recognised afterwards. Asked
   * anew for each try, for it may have the time in it.
   */
  request(): string;
  /**
   * Where a request makes itself seen: one step at a time looks or sends there, across all events.
   * Steps that can be looked for need one.
   */
  place?(request: string): string;
  /** Whether the request that an earlier run recorded asks for something else than this one. */
  differs?(recorded: string): boolean;
  run(): Promise<Effect<T>>;
  /** The subject of the event, if several events can have it. One of them makes the step, and the others get `undefined`. */
  readonly subject?: Subject | undefined;
  /**
   * Looks for what an earlier run may have done; undefined when it did nothing. Without it an open
   * intent cannot be resolved, and the event is parked, unless the step may be repeated.
   */
  find?(intent: OpenIntent): Promise<Effect<T> | undefined>;
  /** How long after its intent the effect may still be under way, in milliseconds. */
  readonly inFlightMs: number;
  /** True when doing it twice does no harm. */
  readonly repeatable: boolean;
  /** How long its result is good for, in milliseconds; then it is done again. For ever by default. */
  readonly validForMs?: number;
}

/**
 * What a person does about an event that was parked because of a step: the end of a STEP_UNCERTAIN message.
 *
 * @param event its id, where it is known
 */
export function howToSettle(event = "ID"): string {
  const retry = `service-bot inbox retry ${event} --assume`;
  return (
    `Look for it, then settle it: "${retry} done" when it took effect, "${retry} absent" when it did not, ` +
    `or discard the event. "service-bot inbox show ${event}" has the details.`
  );
}

/** The result of a step, as the handler gets it. */
export interface StepEnd<T> {
  readonly result: T;
  /** True when an earlier run made the step, and this one did nothing. */
  readonly repeated: boolean;
}

/** Runs steps for one run of a handler. */
export interface StepRunner {
  /** Runs a step, and returns its result alone. */
  run<T>(step: Step<T>): Promise<T>;
  /** Runs a step, and returns its result with its origin. */
  execute<T>(step: Step<T>): Promise<StepEnd<T>>;
}
