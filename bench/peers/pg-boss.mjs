import { serve } from "./boss.mjs";

/**
 * Large batches, the next one fetched as soon as one is done, by two workers. A handler is called once for all
 * jobs of a batch, and gives an outcome for each.
 */
serve({
  batchSize: 500,
  burstWhenBatchFull: true,
  perJobResults: true,
  localConcurrency: 2,
  pollingIntervalSeconds: 0.5,
});
