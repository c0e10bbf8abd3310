import { join } from "node:path";
import { codeBlocks, type Page, pages } from "../docs/markdown.ts";
import { first } from "../support/first.ts";

const page: Page = first(
  pages.filter(({ path }) => path === join("docs", "guides", "migrating.md")),
);

const blocks = codeBlocks(page).filter(({ language }) => language === "ts");

export function blocksOf(framework: "@slack/bolt" | "grammy" | "probot"): string[] {
  return blocks.map(({ code }) => code).filter((code) => code.includes(`from "${framework}"`));
}

export function botOf(name: string): string {
  return first(blocks.filter(({ code }) => code.startsWith(`// The bot with ${name}\n`))).code;
}

export function linesOf(code: string): number {
  return code.split("\n").filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length;
}

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
