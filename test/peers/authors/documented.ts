import { join } from "node:path";
import { codeBlocks, type Page, pages } from "../../docs/markdown.ts";
import { first } from "../../support/first.ts";

/** The page with the bots and their outcomes. */
export const page: Page = first(
  pages.filter(({ path }) => path === join("docs", "guides", "migrating.md")),
);

const blocks = codeBlocks(page).filter(({ language }) => language === "ts");

/** Returns the page's TypeScript blocks that import a framework. */
export function blocksOf(framework: "@slack/bolt" | "grammy" | "probot"): string[] {
  return blocks.map(({ code }) => code).filter((code) => code.includes(`from "${framework}"`));
}

/** Returns a framework's complete bot from the page. */
export function botOf(name: string): string {
  return first(blocks.filter(({ code }) => code.startsWith(`// The bot with ${name}\n`))).code;
}

/** Counts lines of code, without blank lines and comments. */
export function linesOf(code: string): number {
  return code.split("\n").filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length;
}

/** Returns the cells of the page's table of outcomes. */
export function documentedOutcomes(): { header: string[]; rows: string[][] } {
  const [, section = ""] = page.text.split("\n## What happens on kill -9\n");
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  const [header = [], ...rows] = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return { header, rows };
}
