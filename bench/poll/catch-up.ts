import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { CatchUp } from "../processes/catch-up.ts";
import type { PageLoop } from "../processes/page-loop.ts";
import type { Pages } from "../processes/pages.ts";
import { perSecond } from "../support/rate.ts";

/** What a platform in the same data centre takes, in milliseconds. */
const AWAY_MS = 2;

/**
 * How fast a bot gets through a log that has grown while it was away. What the target speaks of is the poller's
 * work: to fetch, check and store every page durably. Handling goes on in the same process after that and beside it,
 * takes longer than reading does, and is the measure of the queue.
 */
export const benchmark: Benchmark = {
  title:
    "an event log of 1,000 pages of 50 events (--quick: 100), read from its beginning to its end",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 100 : 1_000;
    const pages = new Child<Pages>("processes/pages.ts");
    const loop = new Child<PageLoop>("processes/page-loop.ts");
    const poller = new Child<CatchUp>("processes/catch-up.ts");
    const bot = new Child<CatchUp>("processes/catch-up.ts");
    const url = await pages.call("listen", count);
    return {
      subjects: [
        async () => ({ loop: perSecond(count, await loop.call("read", url)) }),
        async () => ({ poller: perSecond(count, await poller.call("poller", url)) }),
        async () => {
          await pages.call("delay", AWAY_MS);
          const far = perSecond(count, await loop.call("read", url));
          const farPoller = perSecond(count, await poller.call("poller", url));
          await pages.call("delay", 0);
          return { "far loop": far, "far poller": farPoller };
        },
        async () => {
          const { stored, handled } = await bot.call("bot", url);
          return { stored: perSecond(count, stored), handled: perSecond(count, handled) };
        },
      ],
      figures: [
        { name: "a loop of fetch that stores nothing", sample: "loop", unit: "pages/s" },
        {
          name: "the poller, into the inbox",
          sample: "poller",
          unit: "pages/s",
          against: "loop",
          target: { number: 7, bound: 0.9, is: "at least" },
        },
        { name: `the loop, ${AWAY_MS} ms away`, sample: "far loop", unit: "pages/s" },
        {
          name: `the poller, ${AWAY_MS} ms away`,
          sample: "far poller",
          unit: "pages/s",
          against: "far loop",
        },
        {
          name: "a bot, until all is stored",
          sample: "stored",
          unit: "pages/s",
          against: "loop",
        },
        {
          name: "a bot, until all is handled",
          sample: "handled",
          unit: "pages/s",
          against: "loop",
        },
      ],
      close: async () => {
        await Promise.all([pages, loop, poller, bot].map((process) => process.stop()));
      },
    };
  },
};
