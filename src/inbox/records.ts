/** What the inbox knows of its events, as it tells it. All times are milliseconds since 1970. */

/** The door through which an event came first. */
export type Source = "webhook" | "poll";

/**
 * What has become of an event. `dead` and `discarded` ones are not handled any more: the former until
 * somebody retries them, the latter never.
 */
export type EventState = "pending" | "done" | "dead" | "discarded";

export const eventStates: readonly EventState[] = ["pending", "done", "dead", "discarded"];

/** One event, without its content. */
export interface EventSummary {
  readonly id: string;
  readonly type: string;
  /** Events of one lane are handled in order. */
  readonly lane: string;
  readonly state: EventState;
  readonly source: Source;
  /** Runs that count towards the limit, from 0 up; a retry by hand begins again at 0. */
  readonly attempts: number;
  /** True while a run of its handler holds the lease of its lane. */
  readonly leased: boolean;
  /** When the bot got it, in milliseconds since 1970. */
  readonly receivedAt: number;
  /**
   * Names the delivery, or the reading of the log, that brought it, with all that came of it: the log has it in the
   * field `trace`. Undefined for what a version before this one has stored.
   */
  readonly trace: string | undefined;
  /** When it was done, died or was discarded. */
  readonly endedAt: number | undefined;
  /** The last error; undefined when there was none, and once the event is done. */
  readonly error: string | undefined;
  /** Why it was discarded, in the words of whoever did it. */
  readonly discardReason: string | undefined;
}

/** A run that did not end well. */
export interface AttemptRecord {
  /** As the handler saw it in `ctx.attempt`, from 1 up. */
  readonly number: number;
  /**
   * `failed`: run again later; `released`: put off without counting; `dead`: it was the last one;
   * `crashed`: it never said how it ended, as when the process is gone; found at `endedAt`.
   */
  readonly outcome: "failed" | "released" | "dead" | "crashed";
  readonly error: string | undefined;
  /** When the run ended, or was found to have ended, in milliseconds since 1970. */
  readonly endedAt: number;
}

/** A step of an event's handler. */
export interface StepRecord {
  /** As the handler calls it; replies number themselves. */
  readonly name: string;
  /** `open`: begun, and nobody knows whether it took effect. */
  readonly state: "open" | "done";
  /** What was about to be done. */
  readonly request: string;
  /** JSON; undefined while the step is open, and when it was settled by hand. */
  readonly result: string | undefined;
  /** The platform's id of what the step made, where it has one. */
  readonly ref: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** Everything about one event. */
export interface EventDetails extends EventSummary {
  /** The whole event as JSON text; undefined once it was dropped, some time after the event ended. */
  readonly body: string | undefined;
  /** The newest 50 runs that did not end well, in the order in which they ended. */
  readonly history: readonly AttemptRecord[];
  /** In the order in which they began. */
  readonly steps: readonly StepRecord[];
}

/** How many events there are in each state. */
export interface InboxStats {
  /** Not handled yet, those that wait for a retry included. */
  readonly pending: number;
  /** Handled, as far as they are still known. */
  readonly done: number;
  /** Dead letters: they wait for a person. */
  readonly dead: number;
  /** When the oldest pending event was received. */
  readonly oldestPendingAt: number | undefined;
}

/** Lanes that have events which are not handled yet. */
export interface LaneReport {
  /** Their next event can begin. */
  readonly ready: number;
  /** Their next event waits for its next attempt. */
  readonly waiting: number;
  /** An event of theirs is being handled. */
  readonly leased: number;
  /** Of those that wait: the ones in which other events stand behind the one that waits. */
  readonly blocked: number;
}

/** What an inbox takes up, in bytes. */
export interface StorageReport {
  /** The file, or the tables of the schema with their indexes. */
  readonly bytes: number;
  /** What is written and not in the file yet; undefined where there is no file. */
  readonly walBytes: number | undefined;
}

/** {@link InboxStats} with what a person asks next. */
export interface InboxReport extends InboxStats {
  /** Ended by a person, as far as they are still known. */
  readonly discarded: number;
  /** How many events wait of each type, for the types that have any. */
  readonly pendingByType: Readonly<Record<string, number>>;
  /** How many dead letters there are of each type, for the types that have any. */
  readonly deadByType: Readonly<Record<string, number>>;
  /**
   * How many there are of each error: by its name and its code, such as `ServiceBotError STEP_UNCERTAIN`. The 20 most
   * frequent ones.
   */
  readonly deadByError: Readonly<Record<string, number>>;
  readonly lanes: LaneReport;
  readonly storage: StorageReport;
}

/** What a monitor asks the inbox every few seconds: nothing here takes longer the more has ended. */
export interface InboxMeasures {
  readonly pending: number;
  /** When the oldest pending event was received, in milliseconds since 1970. */
  readonly oldestPendingAt: number | undefined;
  readonly dead: number;
  /** Undefined where the inbox is not on a disk of this machine. */
  readonly disk: DiskMeasures | undefined;
}

/** Sizes in bytes. */
export interface DiskMeasures {
  readonly database: number;
  /** What was committed and is not in the database file yet. */
  readonly wal: number;
  /** Undefined where the file system does not tell. */
  readonly free: number | undefined;
  /** New events are refused below this. */
  readonly minFree: number;
}
