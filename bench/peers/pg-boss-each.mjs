import { serve } from "./boss.mjs";

/** A handler for each job, as it is with the others: a job that takes long, or throws, holds up no other. */
serve({
  batchSize: 1,
  burstWhenBatchFull: true,
  localConcurrency: 24,
  pollingIntervalSeconds: 0.5,
});
