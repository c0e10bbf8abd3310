import { answer } from "../harness/child.ts";
import { openBoss, QUEUE, toJob } from "./boss.mjs";
import { measured, tripsSoFar } from "./count-trips.mjs";

/**
 * Two workers that fetch the next large batch as soon as they finish one. Each job has its own outcome, as with the
 * other peers.
 */
const BEST = {
  batchSize: 500,
  burstWhenBatchFull: true,
  perJobResults: true,
  localConcurrency: 2,
  pollingIntervalSeconds: 0.5,
};

let boss;

answer({
  async open(options) {
    boss = await openBoss(options, 10);
  },
  async fill(events) {
    await boss.insert(QUEUE, events.map(toJob));
  },
  ingest: (batches) =>
    measured(async () => {
      for (const batch of batches) await boss.insert(QUEUE, batch.map(toJob));
    }),
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
    // Wait until the last outcomes are written.
    await boss.offWork(QUEUE, { wait: true });
    return { ms: performance.now() - started, trips: tripsSoFar() - before };
  },
  close: () => boss.stop({ graceful: false }),
});
