import { readDatabase } from "../../src/core/database-address.ts";
import type { Inbox } from "../../src/inbox/inbox.ts";
import { answer } from "../harness/child.ts";
import { drainInbox } from "../support/drain.ts";
import { fillInbox, openInbox, toNewEvent } from "../support/inbox.ts";
import type { QueueEvent } from "../support/message.ts";
import type { Measured, QueueOptions } from "../support/queue.ts";

/**
 * Lanes handled at once. A statement completes up to a third of them, so two batches can be in the database while a
 * third runs here.
 */
const MANY = 3_000;

const LEASE_MS = 30_000;

let inbox: Inbox;
let inFile = false;
let trips = 0;

async function measured(work: () => Promise<unknown>): Promise<Measured> {
  const before = trips;
  const started = performance.now();
  await work();
  return { ms: performance.now() - started, trips: trips - before };
}

/** service-bot's queue, with deduplication, lanes, fences and attempt counts. Finished events are kept. */
const handlers = {
  open: async (options: QueueOptions): Promise<void> => {
    inFile = readDatabase(options.url).kind === "sqlite";
    inbox = await openInbox(options, () => {
      trips += 1;
    });
  },
  fill: (events: readonly QueueEvent[]): Promise<void> => fillInbox(inbox, events),
  ingest: (batches: readonly (readonly QueueEvent[])[]): Promise<Measured> =>
    measured(async () => {
      for (const batch of batches) await inbox.put(batch.map(toNewEvent), "webhook");
    }),
  ingestTogether: (events: readonly QueueEvent[], together: number): Promise<Measured> => {
    // All deliveries share one iterator, so each takes the next event.
    const left = events.map(toNewEvent).values();
    const deliver = async () => {
      for (const event of left) await inbox.put([event], "webhook");
    };
    return measured(async () => {
      await Promise.all(Array.from({ length: together }, deliver));
      // On SQLite, `nextReadyIn` writes the lanes of new events. That work is part of ingestion.
      await inbox.nextReadyIn();
    });
  },
  drain: async (_count: number, concurrency = MANY): Promise<Measured> => {
    let began = { at: 0, trips: 0 };
    const begin = () => {
      began = { at: performance.now(), trips };
    };
    // On SQLite, the first claim writes the lanes of new events. That work is part of the drain.
    if (inFile) begin();
    await drainInbox(inbox, { concurrency, ...(inFile ? {} : { onBegin: begin }) });
    return { ms: performance.now() - began.at, trips: trips - began.trips };
  },
  claim: (lanes: number, limit: number): Promise<Measured> =>
    measured(async () => {
      for (let claimed = 0; claimed < lanes; ) {
        const claims = await inbox.claim(limit, LEASE_MS);
        claimed += claims.length;
        await Promise.all(claims.map((claim) => inbox.complete(claim)));
      }
    }),
  close: (): Promise<void> => inbox.close(),
};

answer(handlers);
