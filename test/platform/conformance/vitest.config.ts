import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { ConformanceReporter } from "./reporter.ts";

const given = givenPlatform();

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
    ...(given === undefined
      ? {}
      : {
          provide: { conformanceUrl: given.url, conformanceControlToken: given.controlToken },
          fileParallelism: false,
          globalSetup: "test/platform/conformance/keep-state.ts",
        }),
  },
});

export default config;

/** The platform to show, by the address of its portal. `undefined` if there is none to take. */
function givenPlatform(): { readonly url: string; readonly controlToken: string } | undefined {
  const given = process.env["CONFORMANCE_URL"];
  if (given === undefined || given === "") return undefined;
  const url = URL.parse(given);
  const controlToken = /^#token=([\w-]+)$/.exec(url?.hash ?? "")?.[1];
  if (url !== null && /^https?:$/.test(url.protocol) && controlToken !== undefined) {
    return { url: url.origin, controlToken };
  }
  throw new Error(
    "CONFORMANCE_URL must be the address of a portal, such as http://127.0.0.1:4400/#token=…",
  );
}
