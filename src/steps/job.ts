import type { Logger } from "../core/logger.ts";
import type { StepRunner } from "./step.ts";

/** One run of the handlers for one event: what the dispatcher hands to the router. */
export interface Job<Event> {
  readonly event: Event;
  /** The number of this run, from 1 up. */
  readonly attempt: number;
  /** The source that had the event first. */
  readonly source: "webhook" | "poll";
  /** True when a later event of the same lane was done before this one arrived. */
  readonly late: boolean;
  /** The id that joins it to the delivery that brought it; undefined for what an earlier version has stored. */
  readonly trace: string | undefined;
  readonly log: Logger;
  /** Aborts at the handler timeout, when the lease is lost, and when the bot stops. */
  readonly signal: AbortSignal;
  readonly steps: StepRunner;
}
