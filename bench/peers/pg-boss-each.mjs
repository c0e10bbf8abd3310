import { answer } from "../harness/child.ts";
import { openBoss, QUEUE, toJob } from "./boss.mjs";
import { measured } from "./count-trips.mjs";

/**
 * A handler for each job, as it is with the others, so that one that takes long or throws holds up no other: as many
 * loops as graphile-worker runs jobs at once, each of which fetches a job, handles it and completes it. Workers
 * that take one job would wait for their polling interval after each.
 */
const AT_ONCE = 24;

let boss;

async function work() {
  for (;;) {
    const [job] = await boss.fetch(QUEUE);
    if (job === undefined) return;
    await boss.complete(QUEUE, job.id);
  }
}

answer({
  async open(options) {
    boss = await openBoss(options, AT_ONCE);
  },
  async fill(events) {
    await boss.insert(QUEUE, events.map(toJob));
  },
  drain: () => measured(() => Promise.all(Array.from({ length: AT_ONCE }, work))),
  close: () => boss.stop({ graceful: false }),
});
