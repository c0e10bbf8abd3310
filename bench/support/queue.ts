import type { Handlers } from "../harness/child.ts";
import { eventId } from "./message.ts";

/**
 * Calls that every process with a queue handles, both service-bot's (`bench/processes/queue.ts`) and of the peers
 * (`bench/peers/`).
 */
export interface QueueProcess extends Handlers {
  /** Creates missing tables. */
  open(options: QueueOptions): Promise<void>;
  /** Stores events. Not timed. */
  fill(events: readonly QueueEvent[]): Promise<void>;
  /** Stores events, one batch after the other, each in one call. */
  ingest(batches: readonly (readonly QueueEvent[])[]): Promise<Measured>;
  /** Stores events in one call each, with `together` calls at a time. Only service-bot implements it. */
  ingestTogether(events: readonly QueueEvent[], together: number): Promise<Measured>;
  /**
   * Handles every event with an empty handler. Measures from the first handler until the last outcome is in the
   * database.
   *
   * @param count number of events, if one process handles all of them
   * @param concurrency lanes at work at once in service-bot; the settings of the peers are in their files
   */
  drain(count: number, concurrency?: number): Promise<Measured>;
  /** Leases `lanes` lanes, `limit` at a time, and completes their events. Only service-bot implements it. */
  claim(lanes: number, limit: number): Promise<Measured>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** `postgres://…`, or `file:` and a path. */
  readonly url: string;
  /** Ignored for a file. */
  readonly schema: string;
}

/** A message in a conversation, the most common event of a bot. */
export interface QueueEvent {
  readonly id: string;
  readonly conversation: string;
}

export interface Measured {
  readonly ms: number;
  /** Round trips to the database. 0 for a file. */
  readonly trips: number;
}

/** Numbers below this belong to events of a history (history.ts). */
let made = 100_000_000_000;

/** Creates new events in `conversations` conversations. The conversation numbers are `step` apart. */
export function makeEvents(count: number, conversations: number, step = 1): QueueEvent[] {
  return Array.from({ length: count }, (_, nth) => {
    made += 1;
    return {
      id: eventId(made),
      conversation: `c_${(nth % conversations) * step}`,
    };
  });
}

export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const starts = Array.from({ length: Math.ceil(items.length / size) }, (_, nth) => nth * size);
  return starts.map((start) => items.slice(start, start + size));
}
