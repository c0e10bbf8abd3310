import { steadyClock } from "../../src/core/clock.ts";
import { createLogger } from "../../src/core/logger.ts";
import { Dispatcher } from "../../src/dispatcher/dispatcher.ts";
import { orderKey } from "../../src/events/id.ts";
import type { NewEvent } from "../../src/inbox/inbox.ts";
import { PostgresInbox } from "../../src/inbox/postgres/postgres-inbox.ts";
import { answer } from "../harness/child.ts";
import { messageEvent } from "../support/message.ts";
import type { Measured, QueueEvent, QueueOptions } from "../support/queue.ts";

/** Three times as many as one statement completes: two rounds are in the database while a third one is at work here. */
const CONCURRENCY = 3_000;

const LEASE_MS = 30_000;

const clock = steadyClock();
const log = createLogger({ level: "silent", secrets: [] });
let inbox: PostgresInbox;
let trips = 0;

async function measured(work: () => Promise<unknown>): Promise<Measured> {
  const before = trips;
  const started = performance.now();
  await work();
  return { ms: performance.now() - started, trips: trips - before };
}

function toNewEvent(event: QueueEvent): NewEvent {
  const { id, conversation } = event;
  const body = JSON.stringify(messageEvent(event));
  return { id, type: "dm.message", lane: `dm:${conversation}`, ord: orderKey(id), body };
}

/** Our own: with deduplication, lanes, fences, attempts, and the done events kept. */
const handlers = {
  open: async ({ url, schema }: QueueOptions): Promise<void> => {
    inbox = await PostgresInbox.open({
      url,
      schema,
      maxBacklog: 10_000_000,
      onStatement: () => {
        trips += 1;
      },
    });
  },
  fill: async (events: readonly QueueEvent[]): Promise<void> => {
    for (let from = 0; from < events.length; from += 1000) {
      await inbox.put(events.slice(from, from + 1000).map(toNewEvent), "webhook");
    }
  },
  ingest: (batches: readonly (readonly QueueEvent[])[]): Promise<Measured> =>
    measured(async () => {
      for (const batch of batches) await inbox.put(batch.map(toNewEvent), "webhook");
    }),
  drain: async (): Promise<Measured> => {
    let began = { at: 0, trips: 0 };
    const handle = (): Promise<void> => {
      if (began.at === 0) began = { at: performance.now(), trips };
      return Promise.resolve();
    };
    const dispatcher = new Dispatcher({
      inbox,
      clock,
      log,
      handler: { run: handle, failed: () => Promise.resolve() },
      concurrency: CONCURRENCY,
      maxAttempts: 8,
      handlerTimeoutMs: 60_000,
      backoff: { baseMs: 1_000, maxMs: 300_000, factor: 2 },
    });
    dispatcher.start();
    await dispatcher.idle();
    const result = { ms: performance.now() - began.at, trips: trips - began.trips };
    await dispatcher.drain(0);
    return result;
  },
  /** Claims and completes, without a dispatcher, until so many lanes were claimed. */
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
