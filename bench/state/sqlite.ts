import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { LayerBotProcess } from "../processes/layer-bot.ts";
import { makeFolder } from "../support/folder.ts";
import { layerFigures, layerSubjects } from "../support/layer.ts";

/** The default of `CONCURRENCY`, and as many lanes as a busy bot has whose handlers wait for the platform. */
const CONCURRENCIES = [16, 1_000];

/** The cost of state and of timers for an event that uses them, and for one that does not; in a file. */
export const benchmark: Benchmark = {
  title:
    "10,000 events handled by a whole bot on SQLite, with state, timers, or neither (--quick: 4,000)",
  async prepare({ quick }): Promise<Stage> {
    const folder = makeFolder();
    const count = quick ? 4_000 : 10_000;
    const process = new Child<LayerBotProcess>("processes/layer-bot.ts");
    const subjects = CONCURRENCIES.flatMap((concurrency) =>
      layerSubjects({
        ...{ process, count, concurrency },
        database: (use) => {
          const name = `${use.replace(" ", "-")}-${concurrency}.db`;
          return { url: `file:${folder.file(name)}`, schema: "" };
        },
      }),
    );
    return {
      subjects,
      figures: CONCURRENCIES.flatMap((concurrency) => layerFigures(concurrency, "statements")),
      close: async () => {
        await process.stop();
        folder.remove();
      },
    };
  },
};
