import { join } from "node:path";
import { chromium as launcher } from "playwright-core";
import type { TestProject } from "vitest/node";
import { buildPortal } from "../../../../scripts/pack/portal.ts";
import { root } from "../../../../scripts/root.ts";
import { chromium } from "../../../support/chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Endpoint of the run's only Chromium, or the reason why Chromium is missing. */
    readonly browser: { readonly endpoint: string } | { readonly missing: string };
  }
}

/** Builds the page as it is published, and starts one browser for all tests. Returns the teardown function. */
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
    // Each test that opens a window fails with this reason. Other test projects continue.
    project.provide("browser", { missing: String(error) });
    return async () => {};
  }
}
