import { publishBoth } from "../../scripts/registry/registry.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { scaffoldersFrom } from "../support/scaffolders.ts";

export const benchmark: Benchmark = {
  title: "the scaffolder beside create-vite, both from one registry on loopback",
  quickRounds: 1,
  warmUp: false,
  prepare: async ({ quick }) => {
    const { registry } = await publishBoth();
    const stage = await scaffoldersFrom(registry.url, quick ? 8 : 40);
    return {
      ...stage,
      close: async () => {
        await stage.close();
        await registry.close();
      },
    };
  },
};
