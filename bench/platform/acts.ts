import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { Rows } from "../processes/rows.ts";
import { act, type PlatformProcess, startPlatformProcess } from "../support/platform.ts";
import { perSecond } from "../support/rate.ts";

const ACTS = 10_000;

/** How fast people can be let do things: the load that everything else is measured with. */
export const benchmark: Benchmark = {
  title: `${ACTS.toLocaleString("en-US")} acts, 1,000 in one call`,
  quickRounds: 1,
  async prepare(): Promise<Stage> {
    const rows = new Child<Rows>("processes/rows.ts");
    await rows.call("open");
    const platform = await startPlatformProcess();
    const measure = async (what: object) => {
      const started = performance.now();
      await act(platform, what, ACTS);
      return perSecond(ACTS, performance.now() - started);
    };
    return {
      subjects: [
        async () => ({ rows: perSecond(ACTS, await rows.call("insert", ACTS)) }),
        async () => ({ message: await measure({ type: "dm.message", text: "hello" }) }),
        async () => ({ comment: await measure({ type: "comment", text: "hello" }) }),
        async () => ({ like: await measure({ type: "like" }) }),
      ],
      figures: [
        { name: "SQLite, the message and the event alone", sample: "rows", unit: "acts/s" },
        { name: "direct messages", sample: "message", unit: "acts/s", against: "rows" },
        { name: "comments", sample: "comment", unit: "acts/s", against: "rows" },
        { name: "likes", sample: "like", unit: "acts/s", against: "rows" },
      ],
      close: () => close(platform, rows),
    };
  },
};

async function close(platform: PlatformProcess, rows: Child<Rows>): Promise<void> {
  await platform.close();
  await rows.call("close");
  await rows.stop();
}
