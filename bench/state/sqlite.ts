import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { LayerBotProcess } from "../processes/layer-bot.ts";
import { makeFolder } from "../support/folder.ts";
import { layerFigures, layerSubjects } from "../support/layer.ts";

/** A bot's default `CONCURRENCY`. */
const CONCURRENCY = 16;

/** Measures the cost of state and timers on SQLite, for events that use them and for events that do not. */
export const benchmark: Benchmark = {
  title:
    "10,000 events handled by a whole bot on SQLite, with state, timers, or neither (--quick: 4,000)",
  async prepare({ quick }): Promise<Stage> {
    const folder = makeFolder();
    const count = quick ? 4_000 : 10_000;
    const process = new Child<LayerBotProcess>("processes/layer-bot.ts", { side: "measured" });
    const subjects = layerSubjects({
      ...{ process, count, concurrency: CONCURRENCY },
      database: (use) => ({
        url: `file:${folder.file(`${use.replace(" ", "-")}.db`)}`,
        schema: "",
      }),
    });
    return {
      subjects,
      figures: layerFigures(CONCURRENCY, "statements"),
      close: async () => {
        await process.stop();
        folder.remove();
      },
    };
  },
};
