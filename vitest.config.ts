import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { givenPlatform } from "./test/platform/conformance/given.ts";
import { ConformanceReporter } from "./test/platform/conformance/reporter.ts";

/** Bots with tests of their own, which test/e2e/upgrade.system.test.ts runs. */
const FIXTURES = "test/fixtures/**";

const platform = givenPlatform();

/**
 * A test's suffix names its needs: `.postgres` a server, `.browser` the built portal and Chromium, `.system` more than
 * a handful of processes, an installed package or minutes, `.containers` an engine for containers. A test without a
 * suffix is quick.
 */
const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ["default", new ConformanceReporter()],
    // The tests of one given platform change its one world in turn.
    fileParallelism: platform === undefined,
    // Many tests outside the quick project only wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [FIXTURES, "test/**/*.{postgres,browser,system,containers}.test.ts"],
          // One worker runs many files, so that each module is loaded once a worker.
          isolate: false,
          ...platform,
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: ["test/**/*.postgres.test.ts"],
          // One worker runs many files, as in the quick project.
          isolate: false,
          globalSetup: ["test/support/postgres/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/**/*.browser.test.ts"],
          globalSetup: ["test/platform/portal/support/global-setup.ts"],
          // A journey through a view has dozens of steps.
          testTimeout: 180_000,
          // One worker runs many files, so that each module is loaded once a worker.
          isolate: false,
        },
      },
      { extends: true, test: { name: "system", include: ["test/**/*.system.test.ts"] } },
      {
        extends: true,
        test: {
          name: "containers",
          include: ["test/**/*.containers.test.ts"],
          globalSetup: ["test/containers/global-setup.ts"],
          // After the others, one file after the other: a bot behind Caddy takes the ports 80 and 443.
          sequence: { groupOrder: 1 },
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

export default config;
