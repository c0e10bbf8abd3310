import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { installPeer } from "../../../peers/install.ts";

/** The used part of axe-core's results. */
interface Results {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Complaints of axe-core about a page as it is now. The first call may install axe-core. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const source = readFileSync(join(await installPeer("accessibility"), "axe-core/axe.js"), "utf8");
  // The page's policy forbids foreign scripts, so this one comes by the browser's own way in.
  await page.evaluate(source);
  const { violations } = await page.evaluate<Results>("axe.run()");
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
}
