import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { installTools } from "../../../../tools/install.ts";

interface Results {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Which rules to run: all rules, only the colour rules, or all other rules. */
export type Rules = "all" | "colours" | "others";

const options: Readonly<Record<Rules, object>> = {
  all: {},
  colours: { runOnly: ["color-contrast"] },
  others: { rules: { "color-contrast": { enabled: false } } },
};

export async function violationsOf(page: Page, rules: Rules = "all"): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) {
    const path = join(await installTools(), "axe-core/axe.js");
    // The page's policy forbids third-party scripts, so the browser injects axe-core.
    await page.evaluate(readFileSync(path, "utf8"));
  }
  const given = JSON.stringify({ ...options[rules], resultTypes: ["violations"] });
  const { violations } = await page.evaluate<Results>(`axe.run(document, ${given})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
}
