import { look } from "../../test/support/postgres/look.ts";
import { PostgresServer } from "../../test/support/postgres/server.ts";
import type { Benchmark, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { LayerBotProcess } from "../processes/layer-bot.ts";
import { layerFigures, layerSubjects } from "../support/layer.ts";

const CONCURRENCIES = [16, 1_000];

/** The same in PostgreSQL. */
export const benchmark: Benchmark = {
  title:
    "10,000 events handled by a whole bot on PostgreSQL, with state, timers, or neither (--quick: 4,000)",
  quickRounds: 1,
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 4_000 : 10_000;
    const server = await PostgresServer.start("18", ["autovacuum_naptime=10"]);
    const process = new Child<LayerBotProcess>("processes/layer-bot.ts");
    const url = server.url();
    const settle = async () => {
      await look({ url }, "VACUUM ANALYZE");
      await look({ url }, "CHECKPOINT");
    };
    const subjects = CONCURRENCIES.flatMap((concurrency) =>
      layerSubjects({
        ...{ process, count, concurrency, settle },
        database: (use) => ({ url, schema: `bench_${use.replace(" ", "_")}_${concurrency}` }),
      }),
    );
    return {
      subjects,
      figures: CONCURRENCIES.flatMap((concurrency) => layerFigures(concurrency, "round trips")),
      close: async () => {
        await process.stop();
        await server.stop();
      },
    };
  },
};
