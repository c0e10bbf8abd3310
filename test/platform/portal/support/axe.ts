import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

/** What axe-core finds wrong on a page as it is now, in words. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // The page's policy forbids scripts of others; this one comes by the browser's own way in.
  await page.evaluate(source);
  const { violations } = (await page.evaluate("axe.run()")) as AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
}
