import { join } from "node:path";
import { chromium as launcher } from "playwright-core";
import type { TestProject } from "vitest/node";
import { root } from "../../../../scripts/compile.ts";
import { buildPortal } from "../../../../scripts/pack/portal.ts";
import { chromium } from "./chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the run's one Chromium, or why there is none. */
    readonly browser: { readonly endpoint: string } | { readonly missing: string };
  }
}

/** Builds the page as it is published, and starts the browser of all tests. Returns the function that ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    await buildPortal(join(root, "src", "platform", "portal", "static"));
    const server = await launcher.launchServer({
      executablePath: chromium(),
      args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
    });
    project.provide("browser", { endpoint: server.wsEndpoint() });
    return () => server.close();
  } catch (error) {
    // Each test that opens a window fails with the reason; other projects go on.
    project.provide("browser", { missing: String(error) });
    return async () => {};
  }
}
