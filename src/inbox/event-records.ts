/** Records of stored events. All times are in ms since 1970. */

export const sources = ["webhook", "poll"] as const;

/** Source from which an event first arrived. */
export type Source = (typeof sources)[number];

export const eventStates = ["pending", "done", "dead", "discarded"] as const;

/** State of an event. A dead letter runs again only if it is retried. A discarded event never runs. */
export type EventState = (typeof eventStates)[number];

/**
 * Reason why a pending event waits. `ready`: it can run, once a place is free and a bot is running. `lane`: an earlier
 * event of its lane must end first. `retry`: the last run failed. `postponed`: the handler postponed it. `loop_guard`:
 * the bot replies to the account too often. `platform`: the platform is down, or asked for a pause. `token`: the
 * platform rejects the token or the app. `quota`: a quota is used up. `budget`: MAX_REQUESTS_PER_MINUTE is used up.
 * `conflict`: another run changed a state. `store`: the inbox could not be written. `crash`: the process ended during
 * earlier runs, so such events run one at a time. `restore`: handlers start once the log was read after a restore.
 */
export type WaitReason =
  | "ready"
  | "lane"
  | "retry"
  | "postponed"
  | "loop_guard"
  | "platform"
  | "token"
  | "quota"
  | "budget"
  | "conflict"
  | "store"
  | "crash"
  | "restore";

/** Wait of a pending event that no run handles. */
export interface EventWait {
  /** Reason why it waits. */
  readonly reason: WaitReason;
  /** Earliest time of the next run, in ms since 1970. `undefined` if it depends on something else than time. */
  readonly nextAt: number | undefined;
  /** Id of the event in the same lane that must end first. `undefined` if there is none. */
  readonly behind: string | undefined;
  /** Error of the last run. `undefined` if there was none. */
  readonly error: string | undefined;
}

/** Run of an event's handlers in progress. */
export interface EventRun {
  /** Time when the run began, in ms since 1970. `undefined` if an earlier version began it. */
  readonly startedAt: number | undefined;
  /** Name of the newest step that has no result yet. */
  readonly step: string | undefined;
  /** Id of the instance. `undefined` if the inbox serves only one process. */
  readonly instance: string | undefined;
}

/**
 * Reason why an event is done although no handler ran. `own_account`: the bot itself caused the event. `no_handler`: no
 * handler is registered for its type, or no command or pattern matched.
 */
export type SkipReason = "own_account" | "no_handler";

/** One event, without its content. */
export interface EventSummary {
  /** The event's id. */
  readonly id: string;
  /** The event's type. */
  readonly type: string;
  /** Events of one lane are handled in order. */
  readonly lane: string;
  /** Progress of the event. */
  readonly state: EventState;
  /** Source from which the event first arrived. */
  readonly source: Source;
  /** Number of runs that count toward the retry limit. A manual retry resets it to 0. */
  readonly attempts: number;
  /** True while a run holds the lease on the event's lane. */
  readonly leased: boolean;
  /** Time when the bot received the event, in ms since 1970. */
  readonly receivedAt: number;
  /**
   * Trace id of the delivery or log read that stored the event. Log lines have it as `trace`. `undefined` if an earlier
   * version stored the event.
   */
  readonly trace: string | undefined;
  /**
   * Time when the event was done, became a dead letter or was discarded, in ms since 1970. `undefined` while it is
   * pending.
   */
  readonly endedAt: number | undefined;
  /** Last error. `undefined` if there was none or the event is done. */
  readonly error: string | undefined;
  /** Reason given when the event was discarded. */
  readonly discardReason: string | undefined;
  /** Set only while `leased` is true. */
  readonly run: EventRun | undefined;
  /** Set only while the event is pending and no run handles it. */
  readonly wait: EventWait | undefined;
  /** Set only if the event is done and no handler ran. */
  readonly skipReason: SkipReason | undefined;
}

/** A run that failed, was postponed or crashed. */
export interface AttemptRecord {
  /** The handler's `ctx.attempt`, starting at 1. */
  readonly number: number;
  /**
   * `failed`: a retry follows. `released`: postponed without counting the attempt. `dead`: the last attempt. `crashed`:
   * the run never recorded an outcome, for example because its process died.
   */
  readonly outcome: "failed" | "released" | "dead" | "crashed";
  /** Error of the run, without user texts. `undefined` if there was none. */
  readonly error: string | undefined;
  /** Time when the run ended, or was found to have ended, in ms since 1970. */
  readonly endedAt: number;
}

/** A step of an event's handler. */
export interface StepRecord {
  /** Name that the handler gave the step. Unnamed replies are numbered. */
  readonly name: string;
  /** `open`: the step has begun, and its effect may have happened. */
  readonly state: "open" | "done";
  /** Description of the intended effect. */
  readonly request: string;
  /** Result as JSON. `undefined` while the step is open, or if an operator settled it. */
  readonly result: string | undefined;
  /** The effect's id on the platform. `undefined` if it has none. */
  readonly ref: string | undefined;
  /** Time when the step began, in ms since 1970. */
  readonly startedAt: number;
}

/** An event with its content, failed runs and steps. */
export interface EventDetails extends EventSummary {
  /** The event as JSON. `undefined` once its content was deleted, some time after the event ended. */
  readonly body: string | undefined;
  /** The newest 50 runs that did not succeed, in the order they ended. */
  readonly history: readonly AttemptRecord[];
  /** In the order they began. */
  readonly steps: readonly StepRecord[];
}
