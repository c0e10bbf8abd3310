import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

/** All rules, the one about colours, or all others. */
export type Rules = "all" | "colours" | "others";

const options: Readonly<Record<Rules, object>> = {
  all: {},
  colours: { runOnly: ["color-contrast"] },
  others: { rules: { "color-contrast": { enabled: false } } },
};

/** Returns what axe-core finds wrong on a page, in words. */
export async function violationsOf(page: Page, rules: Rules = "all"): Promise<readonly string[]> {
  // The page's policy forbids scripts of others; this one comes by the browser's own way in.
  await page.evaluate(`globalThis.axe === undefined && (() => {${source}})()`);
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ ...options[rules], resultTypes: ["violations"] })})`,
  )) as AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
}
