import Database from "better-sqlite3";
import { better, defineQueue, defineWorker } from "plainjob";
import { answer } from "../harness/child.ts";
import { messageEvent } from "../support/message.ts";
import { fileOf, silent } from "./sqlite.mjs";

const TYPE = "event";

let queue;

/** Uses one worker, which runs jobs one after the other without pausing. A second worker would not be faster. */
answer({
  open({ url }) {
    const connection = better(new Database(fileOf(url)));
    queue = defineQueue({ connection, logger: silent });
  },
  fill(events) {
    queue.addMany(TYPE, events.map(messageEvent));
  },
  async drain(count) {
    let handled = 0;
    let started = 0;
    let stopped;
    const handle = () => {
      if (handled === 0) started = performance.now();
      handled += 1;
      if (handled === count) stopped = worker.stop();
    };
    const worker = defineWorker(TYPE, handle, { queue, logger: silent, pollIntervall: 1 });
    // Wait until the last job is marked as done.
    await worker.start();
    const ms = performance.now() - started;
    await stopped;
    return { ms, trips: 0 };
  },
  close: () => queue.close(),
});
