import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { ConformanceReporter } from "./reporter.ts";

const url = process.env["CONFORMANCE_URL"]?.replace(/\/+$/, "");

/** `npm run conformance`: the rules alone, against a platform of their own or one in another process. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    include: ["test/platform/conformance/*.test.ts"],
    reporters: ["dot", new ConformanceReporter()],
    testTimeout: 20_000,
    // Another process has one world for all tests.
    ...(url === undefined
      ? {}
      : {
          provide: { conformanceUrl: url },
          fileParallelism: false,
          globalSetup: "test/platform/conformance/keep-state.ts",
        }),
  },
});

export default config;
