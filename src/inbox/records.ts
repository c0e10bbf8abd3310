/** Records of events and of the store, for people. All times are milliseconds since 1970. */

/** The source from which an event came first. */
export type Source = "webhook" | "poll";

/** The state of an event. Dead letters are handled again only after a retry; discarded events never are. */
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
  /** True while a run of its handler has the lease of its lane. */
  readonly leased: boolean;
  /** When the bot received it, in milliseconds since 1970. */
  readonly receivedAt: number;
  /**
   * Names the delivery, or the reading of the log, that brought it. The log has it in the field `trace`. `undefined` for
   * events that an earlier version has stored.
   */
  readonly trace: string | undefined;
  /** When it was done, became a dead letter or was discarded. */
  readonly endedAt: number | undefined;
  /** The last error; `undefined` if there was none, and once the event is done. */
  readonly error: string | undefined;
  /** The reason with which a person discarded it. */
  readonly discardReason: string | undefined;
}

/** A run that did not end well. */
export interface AttemptRecord {
  /** `ctx.attempt` of the handler, from 1 up. */
  readonly number: number;
  /**
   * `failed`: run again later; `released`: put off without counting; `dead`: it was the last one; `crashed`: it never
   * recorded how it ended, as when the process is gone.
   */
  readonly outcome: "failed" | "released" | "dead" | "crashed";
  readonly error: string | undefined;
  /** When the run ended, or was found to have ended, in milliseconds since 1970. */
  readonly endedAt: number;
}

/** A step of an event's handler. */
export interface StepRecord {
  /** The name that the handler gave it; replies number themselves. */
  readonly name: string;
  /** `open`: it began, and may have taken effect. */
  readonly state: "open" | "done";
  /** A description of what it was about to do. */
  readonly request: string;
  /** JSON; `undefined` while the step is open, and if a person has settled it. */
  readonly result: string | undefined;
  /** The platform's id of what the step made, if it has one. */
  readonly ref: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** Everything about one event. */
export interface EventDetails extends EventSummary {
  /** The whole event as JSON text; `undefined` once it was dropped, some time after the event ended. */
  readonly body: string | undefined;
  /** The newest 50 runs that did not end well, in the order in which they ended. */
  readonly history: readonly AttemptRecord[];
  /** In the order in which they began. */
  readonly steps: readonly StepRecord[];
}

/** Numbers of events by their state. */
export interface InboxStats {
  /** Not handled yet, also while they wait for a retry. */
  readonly pending: number;
  /** Handled, as far as they are still known. */
  readonly done: number;
  /** Dead letters: they wait for a person. */
  readonly dead: number;
  /** When the oldest pending event was received. */
  readonly oldestPendingAt: number | undefined;
}

/** Numbers of lanes with pending events. */
export interface LaneReport {
  /** Their next event can begin. */
  readonly ready: number;
  /** Their next event waits for its next attempt. */
  readonly waiting: number;
  /** An event of theirs is being handled. */
  readonly leased: number;
  /** Waiting lanes with other events behind the one that waits. */
  readonly blocked: number;
}

/** The size of an inbox, in bytes. */
export interface StorageReport {
  /** The file, or the tables of the schema with their indexes. */
  readonly bytes: number;
  /** The WAL: commits that are not in the file yet; `undefined` if there is no file. */
  readonly walBytes: number | undefined;
}

/** {@link InboxStats} in more detail. */
export interface InboxReport extends InboxStats {
  /** Ended by a person, as far as they are still known. */
  readonly discarded: number;
  /** Pending events of each type that has any. */
  readonly pendingByType: Readonly<Record<string, number>>;
  /** Dead letters of each type that has any. */
  readonly deadByType: Readonly<Record<string, number>>;
  /** Dead letters by the name and code of their error, such as `ServiceBotError STEP_UNCERTAIN`: the 20 most frequent. */
  readonly deadByError: Readonly<Record<string, number>>;
  readonly lanes: LaneReport;
  readonly storage: StorageReport;
}

/** Gauges for a monitor, asked every few seconds. None takes longer with the number of ended events. */
export interface InboxMeasures {
  readonly pending: number;
  /** When the oldest pending event was received, in milliseconds since 1970. */
  readonly oldestPendingAt: number | undefined;
  readonly dead: number;
  /** `undefined` if the inbox is not on a disk of this machine. */
  readonly disk: DiskMeasures | undefined;
}

/** Sizes in bytes. */
export interface DiskMeasures {
  readonly database: number;
  /** Commits that are not in the database file yet. */
  readonly wal: number;
  /** `undefined` if the file system does not report it. */
  readonly free: number | undefined;
  /** New events are refused below this. */
  readonly minFree: number;
}
