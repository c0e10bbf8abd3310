import { Job, Locator, QueueManager, QueueSchemaService, Worker } from "@boringnode/queue";
import { knex as knexAdapter } from "@boringnode/queue/drivers/knex_adapter";
import Knex from "knex";
import { answer } from "../harness/child.ts";
import { messageEvent } from "../support/message.ts";
import { fileOf, silent } from "./sqlite.mjs";

/** knex has one connection to a file, which more jobs at once only wait for. */
const BEST = { concurrency: 5, idleDelay: "1ms", gracefulShutdown: false };

let connection;
let config;
let handled = () => undefined;

class Event extends Job {
  static options = { name: "Event", maxRetries: 7 };

  execute() {
    handled();
    return Promise.resolve();
  }
}

answer({
  async open({ url }) {
    connection = Knex({
      client: "better-sqlite3",
      connection: { filename: fileOf(url) },
      useNullAsDefault: true,
    });
    // It sets nothing itself: what the other two set.
    await connection.raw("PRAGMA journal_mode = WAL");
    await connection.raw("PRAGMA synchronous = NORMAL");
    const schema = new QueueSchemaService(connection);
    await schema.createJobsTable();
    await schema.createSchedulesTable();
    config = {
      default: "sqlite",
      adapters: { sqlite: knexAdapter(connection) },
      worker: BEST,
      logger: silent,
    };
    await QueueManager.init(config);
    Locator.register("Event", Event);
  },
  async fill(events) {
    for (let from = 0; from < events.length; from += 100) {
      await Event.dispatchMany(events.slice(from, from + 100).map(messageEvent)).run();
    }
  },
  async drain(count) {
    const done = Promise.withResolvers();
    let jobs = 0;
    let started = 0;
    handled = () => {
      if (jobs === 0) started = performance.now();
      jobs += 1;
      if (jobs === count) done.resolve();
    };
    const worker = new Worker(config);
    const running = worker.start();
    await done.promise;
    // Returns once what runs is completed.
    await worker.stop();
    const ms = performance.now() - started;
    await running;
    return { ms, trips: 0 };
  },
  close: () => connection.destroy(),
});
