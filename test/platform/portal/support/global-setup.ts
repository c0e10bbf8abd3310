import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { root } from "../../../../scripts/compile.ts";
import { buildPortal } from "../../../../scripts/pack/portal.ts";
import { chromium } from "./chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The program of a Chromium, or why there is none. */
    readonly chromium: { readonly program: string } | { readonly missing: string };
  }
}

/** The page as it would be published, and a browser to look at it. */
export default async function setup(project: TestProject): Promise<void> {
  await buildPortal(join(root, "src", "platform", "portal", "static"));
  try {
    project.provide("chromium", { program: chromium() });
  } catch (error) {
    // Tests of other things go on.
    project.provide("chromium", { missing: String(error) });
  }
}
