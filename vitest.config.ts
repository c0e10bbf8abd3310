import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { ConformanceReporter } from "./test/platform/conformance/reporter.ts";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Bots of their own, whose tests are run by test/e2e/upgrade.test.ts.
    exclude: ["test/fixtures/**"],
    globalSetup: [
      "test/support/postgres/global-setup.ts",
      "test/platform/portal/support/global-setup.ts",
    ],
    reporters: ["default", new ConformanceReporter({ brief: true })],
    // Much of what is tested runs in processes of its own, and its tests only wait.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});

export default config;
