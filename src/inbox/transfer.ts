import type { InboxFilter } from "./admin.ts";
import type { EventDetails, EventState } from "./records.ts";
import type { RestoreMark } from "./restored.ts";

/**
 * Everything about one event, as one inbox gives it away and another one takes it in. What belongs to the processes that
 * serve an inbox, such as leases and fences, is left behind. `attempts` counts a run that is going on as well: of that one
 * nobody who has the event elsewhere knows how it ends.
 */
export interface WholeEvent extends Omit<EventDetails, "leased"> {
  /** Sorts the events of a lane, byte by byte. */
  readonly ord: string;
  /** How many runs never said how they ended. */
  readonly crashes: number;
}

/** Which events are given away; all without one. */
export interface TransferFilter extends InboxFilter {
  readonly state?: EventState | undefined;
}

/** Gives events away, and takes them in, also while bots use the inbox. */
export interface Transfer {
  /** How many events there are now. */
  count(filter: TransferFilter): Promise<number>;

  /**
   * Reads events in the order of their ids, a few at a time, as they all were at one moment. What is not needed any more
   * stays in the store until this has ended, so whoever takes them must not wait for a person.
   */
  read(
    filter: TransferFilter,
    take: (events: readonly WholeEvent[]) => Promise<void>,
  ): Promise<void>;

  /**
   * Stores events in one transaction, all or none, and passes over those whose ids are known. What is pending runs as
   * soon as a bot takes it; steps that are done are not done again.
   *
   * @returns the ids of those that were stored
   */
  write(events: readonly WholeEvent[]): Promise<ReadonlySet<string>>;

  /** What the inbox knows of the backup that it came from; undefined where it was never restored. */
  mark(): Promise<RestoreMark | undefined>;

  /**
   * Takes over what another inbox knows of its restore. Before its events come, and while no bot uses this one, for
   * a bot reads it at its start alone.
   */
  takeMark(other: RestoreMark): Promise<void>;

  /** How many of these ids are known. */
  known(ids: readonly string[]): Promise<number>;
}

/** So many events are read or written at a time: a transaction is over in a few milliseconds. */
export const TRANSFER_BATCH = 100;

/** Runs of an inbox that is left behind: their fences come before those of any claim here, and in their order. */
export function foreignFence(index: number, runs: number): number {
  return index + 1 - runs;
}
