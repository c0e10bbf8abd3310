import type { ShownError } from "./redact.ts";

/** How an event got into the inbox. */
type Door = "webhook" | "poll";

/** What became of a run: `lost` where somebody else has the event, `unbegun` where the bot stopped before it. */
export type RunOutcome = "done" | "retry" | "release" | "dead" | "lost" | "unbegun";

/** A run of the handlers of one event. */
export interface FinishedRun {
  /** Id of the event. */
  readonly event: string;
  /** Number of the attempt, from 1 up. */
  readonly attempt: number;
  /** Without secrets and texts of the event; `undefined` if the run did not fail. */
  readonly error: ShownError | undefined;
  /** Time until the next attempt in ms; `undefined` if there is none. */
  readonly retryInMs: number | undefined;
}

/**
 * How a lease was lost: the run was told (`run`), the store refused what it came to (`result`: its fence was too old),
 * or another instance may read the event log (`log`).
 */
export type LeaseLoss = "run" | "result" | "log";

/** Why the store could not do something. `disk_low`: a bot refuses new events while little is free. */
export type StoreFailure = "disk_low" | "disk_full" | "locked" | "away" | "broken";

/** What has come of a batch. */
interface Arrived {
  /** The ids that were new. */
  readonly stored: readonly string[];
  readonly duplicates: number;
  readonly unusable: number;
}

/**
 * Told what happens inside a bot. The parts know this and nothing of who listens. It is called on paths that every
 * event takes: it gets what is there anyway, takes no time, and throws nothing. Spans are milliseconds.
 */
export interface Observer {
  /**
   * A delivery of the webhook was answered.
   *
   * @param code of the error; undefined where it was taken
   * @param ms since its body was there; undefined where it was not read
   */
  answered(status: number, code: string | undefined, ms: number | undefined): void;
  /** A batch was stored; `events` is all of it. */
  arrived(
    door: Door,
    events: readonly { readonly id: string; readonly type: string }[],
    result: Arrived,
  ): void;
  /** A run of the handlers of one event is over, and what became of it is written. */
  ran(type: string, outcome: RunOutcome, ms: number, run: FinishedRun): void;
  leaseLost(what: LeaseLoss): void;
  /** The event log was read, or could not be: then with the code of the error. */
  logRead(code: string | undefined): void;
  /** Polling took over, or handed back. */
  switched(to: "auditing" | "polling"): void;
  /** A transaction of the store is over, well or not. */
  committed(ms: number): void;
  storeFailed(why: StoreFailure): void;
}

const nothing = () => undefined;

/** Where nobody listens. */
export const unobserved: Observer = {
  answered: nothing,
  arrived: nothing,
  ran: nothing,
  leaseLost: nothing,
  logRead: nothing,
  switched: nothing,
  committed: nothing,
  storeFailed: nothing,
};
