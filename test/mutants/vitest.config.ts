import { defineConfig, type ViteUserConfig } from "vitest/config";

/**
 * Runs the quick tests in a single folder, which test/mutants/main.ts chooses. Skips tests that take several seconds
 * each.
 */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: [
      "**/*.{postgres,browser,system}.test.ts",
      "postgres/**",
      "**/{background,interrupted,oracles,retention,simulation}.test.ts",
    ],
    isolate: false,
    testTimeout: 10_000,
  },
});

export default config;
