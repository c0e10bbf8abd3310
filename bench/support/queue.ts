import type { Handlers } from "../harness/child.ts";
import { eventId } from "./message.ts";

/** What every process with a queue does, ours and the peers' alike: `bench/processes/queue.ts`, `bench/peers/`. */
export interface QueueProcess extends Handlers {
  /** Makes the tables where there are none. */
  open(options: QueueOptions): Promise<void>;
  /** Puts events in. Not timed. */
  fill(events: readonly QueueEvent[]): Promise<void>;
  /** Puts events in, a batch after the other, each in one call. */
  ingest(batches: readonly (readonly QueueEvent[])[]): Promise<Measured>;
  /** Puts events in, each in a call of its own, and so many calls at a time. Ours alone can. */
  ingestTogether(events: readonly QueueEvent[], together: number): Promise<Measured>;
  /**
   * Works until nothing is left, with handlers that do nothing; from the first handler until the last
   * outcome is in the database. `count` is how many events there are, where one process has them all.
   * Ours has so many lanes at work at once; what the peers do is in their files.
   */
  drain(count: number, concurrency?: number): Promise<Measured>;
  /** Leases so many lanes, `limit` at a time, and ends the events. Ours alone can. */
  claim(lanes: number, limit: number): Promise<Measured>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** `postgres://…`, or `file:` and a path. */
  readonly url: string;
  /** Means nothing to a file. */
  readonly schema: string;
}

/** What a bot gets: a message in a conversation. */
export interface QueueEvent {
  readonly id: string;
  readonly conversation: string;
}

export interface Measured {
  readonly ms: number;
  /** Round trips to the database; none where it is a file. */
  readonly trips: number;
}

/** Those of a history come before (history.ts). */
let made = 100_000_000_000;

/** Events that were never there before, in so many conversations, whose numbers are `step` apart. */
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
