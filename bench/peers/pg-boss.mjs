import { PgBoss } from "pg-boss";
import { answer } from "../harness/child.ts";
import { messageEvent } from "../support/message.ts";
import { tripsSoFar } from "./count-trips.mjs";

/**
 * Large batches, the next one fetched as soon as one is done, by two workers, without schedules. Each job
 * has an outcome of its own, as it has with the others. Jobs have no groups and no keys.
 */
const BEST = {
  batchSize: 500,
  burstWhenBatchFull: true,
  perJobResults: true,
  localConcurrency: 2,
  pollingIntervalSeconds: 0.5,
};

const QUEUE = "event";
let boss;

const toJob = (event) => ({ data: messageEvent(event) });

answer({
  async open({ url, schema }) {
    boss = new PgBoss({ connectionString: url, schema, schedule: false, max: 10 });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue(QUEUE);
  },
  async fill(events) {
    await boss.insert(QUEUE, events.map(toJob));
  },
  async ingest(batches) {
    const before = tripsSoFar();
    const started = performance.now();
    for (const batch of batches) await boss.insert(QUEUE, batch.map(toJob));
    return { ms: performance.now() - started, trips: tripsSoFar() - before };
  },
  async drain(count) {
    const done = Promise.withResolvers();
    let handled = 0;
    let started = 0;
    let before = 0;
    await boss.work(QUEUE, BEST, async (jobs) => {
      if (handled === 0) {
        started = performance.now();
        before = tripsSoFar();
      }
      handled += jobs.length;
      if (handled === count) done.resolve();
      return jobs.map(({ id }) => ({ id, status: "completed" }));
    });
    await done.promise;
    // Resolves once the last outcomes are written.
    await boss.offWork(QUEUE, { wait: true });
    return { ms: performance.now() - started, trips: tripsSoFar() - before };
  },
  close: () => boss.stop({ graceful: false }),
});
