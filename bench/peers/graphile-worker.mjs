import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { answer } from "../harness/child.ts";
import { messageEvent } from "../support/message.ts";
import { measured, tripsSoFar } from "./count-trips.mjs";

/**
 * The settings from the "Performance" page of its documentation. Jobs have no queue names and no keys, because both
 * would be slower. As a result, jobs are neither ordered nor deduplicated.
 */
const BEST = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

const TASK = "event";
const logger = new Logger(() => () => undefined);
let preset;
let utils;

const toSpec = (event) => ({ identifier: TASK, payload: messageEvent(event) });

answer({
  async open({ url, schema }) {
    preset = { worker: { connectionString: url, schema, logger, ...BEST } };
    utils = await makeWorkerUtils({ preset });
    await utils.migrate();
  },
  async fill(events) {
    await utils.addJobs(events.map(toSpec));
  },
  ingest: (batches) =>
    measured(async () => {
      for (const batch of batches) await utils.addJobs(batch.map(toSpec));
    }),
  async drain(count) {
    const done = Promise.withResolvers();
    let handled = 0;
    let started = 0;
    let before = 0;
    const handle = () => {
      if (handled === 0) {
        started = performance.now();
        before = tripsSoFar();
      }
      handled += 1;
      if (handled === count) done.resolve();
    };
    const runner = await run({ preset, noHandleSignals: true, taskList: { [TASK]: handle } });
    await done.promise;
    // Wait until the last outcomes are written.
    await runner.stop();
    return { ms: performance.now() - started, trips: tripsSoFar() - before };
  },
  close: () => utils.release(),
});
