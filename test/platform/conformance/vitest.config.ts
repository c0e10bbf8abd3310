import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { ConformanceReporter } from "./reporter.ts";

const url = givenUrl();

/** `npm run conformance`: the rules alone, against a platform of their own or one in another process. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    include: ["test/platform/conformance/*.test.ts"],
    reporters: ["dot", new ConformanceReporter()],
    testTimeout: 20_000,
    // The tests share nothing but code, so they need not load it for each file.
    isolate: false,
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

/** The origin of the platform to show; undefined when there is none to take. */
function givenUrl(): string | undefined {
  const given = process.env["CONFORMANCE_URL"];
  if (given === undefined || given === "") return undefined;
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
  throw new Error("CONFORMANCE_URL must be an address such as http://127.0.0.1:4400");
}
