import type { Handlers } from "../harness/child.ts";
import { eventId, type QueueEvent } from "./message.ts";

/** Calls handled by every queue process: service-bot's (`bench/processes/queue.ts`) and the peers' (`bench/peers/`). */
export interface QueueProcess extends Handlers {
  open(options: QueueOptions): Promise<void>;
  /** Stores events before the measurement. */
  fill(events: readonly QueueEvent[]): Promise<void>;
  /** Stores the batches one after the other, with one call each. */
  ingest(batches: readonly (readonly QueueEvent[])[]): Promise<Measured>;
  /** Stores each event in its own call, with `together` calls in flight. Only service-bot implements this call. */
  ingestTogether(events: readonly QueueEvent[], together: number): Promise<Measured>;
  /**
   * Handles every event with a no-op handler. Measures from the first handler until the last outcome is in the
   * database.
   *
   * @param count number of waiting events
   * @param concurrency lanes handled at once. Only for service-bot: each peer's settings are in its file.
   */
  drain(count: number, concurrency?: number): Promise<Measured>;
  /** Leases `lanes` lanes, `limit` at a time, and completes their events. Only service-bot implements this call. */
  claim(lanes: number, limit: number): Promise<Measured>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** A `postgres://` or `file:` URL. */
  readonly url: string;
  /** Ignored for SQLite. */
  readonly schema: string;
}

export interface Measured {
  readonly ms: number;
  /** Round trips to the database. 0 for SQLite. */
  readonly trips: number;
}

/** Lower numbers belong to a history's events (history.ts). */
let made = 100_000_000_000;

/** Creates new events in `conversations` conversations, whose numbers are `step` apart. */
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
