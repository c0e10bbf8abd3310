import type { Benchmark, Figure, Samples, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { CatchUp } from "../processes/catch-up.ts";
import type { PageLoop } from "../processes/page-loop.ts";
import type { Pages } from "../processes/pages.ts";
import { cpuFigures, withCpu } from "../support/cpu.ts";
import { perSecond } from "../support/rate.ts";

const LIMIT = 50;

const unit = "events/s";

const loop: Figure = { name: "a fetch loop that stores nothing", sample: "loop", unit };
const poller: Figure = {
  ...{ name: "catching up by polling, into the inbox", sample: "poller", unit, against: "loop" },
  target: { number: 7, bound: 0.5, is: "at least" },
};

/**
 * Measures how fast a bot catches up with the event log after downtime. The target applies to the poller, which
 * fetches, checks and durably stores every page. The whole bot also handles the events in the same process.
 */
export const benchmark: Benchmark = {
  title: `an event log of 50,000 events in pages of ${LIMIT} (--quick: 5,000), read from beginning to end`,
  async prepare({ quick }): Promise<Stage> {
    const events = quick ? 5_000 : 50_000;
    const pages = new Child<Pages>("processes/pages.ts", { side: "load" });
    const reader = new Child<PageLoop>("processes/page-loop.ts", { side: "measured" });
    const own = new Child<CatchUp>("processes/catch-up.ts", { side: "measured" });
    const bot = new Child<CatchUp>("processes/catch-up.ts", { side: "measured" });
    const url = await pages.call("listen", events / LIMIT);
    const subject =
      (name: string, process: { cpuMs(): Promise<number> }, read: () => Promise<number>) =>
      (): Promise<Samples> =>
        withCpu(name, process, events, async () => ({ [name]: perSecond(events, await read()) }));
    return {
      subjects: [
        subject("loop", reader, () => reader.call("read", url)),
        subject("poller", own, () => own.call("poller", url)),
        subject("bot", bot, () => bot.call("bot", url)),
      ],
      figures: [
        loop,
        poller,
        { name: "a bot, until every event is handled", sample: "bot", unit, against: "loop" },
        ...cpuFigures(poller, loop),
      ],
      close: async () => {
        await Promise.all([pages, reader, own, bot].map((process) => process.stop()));
      },
    };
  },
};
