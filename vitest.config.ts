import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { givenPlatform } from "./test/platform/conformance/given.ts";
import { ConformanceReporter } from "./test/platform/conformance/reporter.ts";

/** Bots with their own tests, which test/e2e/upgrade.system.test.ts runs. */
const FIXTURES = "test/fixtures/**";

const platform = givenPlatform();

const WORKERS = Math.max(2, availableParallelism());

/** For projects whose tests mostly wait for other processes. They run after the others, which use each core fully. */
const waiting = { maxWorkers: 2 * WORKERS, sequence: { groupOrder: 1 } };

/**
 * The suffix of a test names its requirements. `.postgres` needs a server, `.browser` the built portal and Chromium,
 * and `.containers` a container engine. `.system` needs more than a few processes, an installed package, or minutes.
 * Tests without a suffix are quick.
 */
const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ["default", new ConformanceReporter()],
    // The tests of one external platform change its state, so they run in sequence.
    fileParallelism: platform === undefined,
    maxWorkers: WORKERS,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [FIXTURES, "test/**/*.{postgres,browser,system,containers}.test.ts"],
          setupFiles: ["test/support/instant-syncs.ts"],
          // A worker runs many files, so that it loads each module only once.
          isolate: false,
          ...platform,
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          ...waiting,
          include: ["test/**/*.postgres.test.ts"],
          // A worker runs many files, as in the quick project.
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
          // A worker runs many files, so that it loads each module only once.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "system", ...waiting, include: ["test/**/*.system.test.ts"] },
      },
      {
        extends: true,
        test: {
          name: "containers",
          include: ["test/**/*.containers.test.ts"],
          globalSetup: ["test/containers/global-setup.ts"],
          // Runs after the others, one file at a time, because a bot behind Caddy uses the ports 80 and 443.
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

export default config;
