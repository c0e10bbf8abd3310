import { PgBoss } from "pg-boss";
import { answer } from "../harness/child.ts";
import { messageEvent } from "../support/message.ts";
import { tripsSoFar } from "./count-trips.mjs";

/**
 * A handler for each job, as it is with the others, so that one that takes long or throws holds up no other: as many
 * loops as graphile-worker runs jobs at once, each of which fetches a job, handles it and completes it. Workers
 * that take one job would wait for their polling interval after each.
 */
const AT_ONCE = 24;

const QUEUE = "event";
let boss;

const toJob = (event) => ({ data: messageEvent(event) });

async function work() {
  for (;;) {
    const [job] = await boss.fetch(QUEUE);
    if (job === undefined) return;
    await boss.complete(QUEUE, job.id);
  }
}

answer({
  async open({ url, schema }) {
    boss = new PgBoss({ connectionString: url, schema, schedule: false, max: AT_ONCE });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue(QUEUE);
  },
  async fill(events) {
    await boss.insert(QUEUE, events.map(toJob));
  },
  async drain() {
    const before = tripsSoFar();
    const started = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { ms: performance.now() - started, trips: tripsSoFar() - before };
  },
  close: () => boss.stop({ graceful: false }),
});
