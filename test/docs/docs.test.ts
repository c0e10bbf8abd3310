import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withTable } from "../../scripts/configuration/table.ts";
import { settings } from "../faces/bot.ts";
import { guideFiles, pathIn } from "../guides/files.ts";
import { typeErrors } from "../support/type-errors.ts";
import { type CodeBlock, codeBlocks, links, type Page, pages, prose, root } from "./markdown.ts";

test.each(pages)("$path links to files that are there", (page) => {
  expect(links(page).filter((target) => !existsSync(target))).toEqual([]);
});

/** Drafts use these placeholders. */
const placeholder =
  /\b(?:TODO|TBD|FIXME|XX+|FIGURES?|NUMBERS?|RATIOS?|VALUES?|TIMES?|SECONDS|MINUTES|SIZES?|COUNTS?|DATES?|VERSIONS?)\b/g;

test.each(pages)("$path is finished: no word in capitals stands for a figure", (page) => {
  expect(prose(page).match(placeholder)).toBeNull();
});

test("a draft is not finished", () => {
  const text =
    "All of it takes about TIME minutes: FIGURES. `TIME` in code, TIMEOUT and JSON are words.";
  expect(prose({ path: "draft.md", text }).match(placeholder)).toEqual(["TIME", "FIGURES"]);
});

test("every TypeScript example compiles, strictly", { timeout: 60_000 }, async () => {
  const blocks = pages.filter(isWritten).flatMap(codeBlocks).filter(isExample);
  expect(blocks.length).toBeGreaterThan(4);
  const files = blocks.map(({ page, code }, index) => [
    `${page.replaceAll(/\W/g, "_")}_${index}.ts`,
    `${code}\nexport {};\n`,
  ]);
  for (const { guide, path, code } of guideFiles) files.push([join(guide, path), code]);
  expect(await typeErrors(Object.fromEntries(files), { paths: sourcesOfExports() })).toBe("");
});

/** The API reference is generated from sources that are checked elsewhere. */
function isWritten({ path }: Page): boolean {
  return !path.startsWith(join("docs/reference/api"));
}

/**
 * A bot's file begins with its path. The files of a guide are compiled together, and other files in
 * test/e2e/start.system.test.ts. Blocks that import other packages are compiled by test/tracing/docs.system.test.ts and
 * test/peers/authors/authors.system.test.ts.
 */
function isExample(block: CodeBlock): boolean {
  const { language, code, note } = block;
  const isFile = pathIn(block) !== undefined;
  if (isFile) expect(note, code).toMatch(/test\/(e2e\/start\.system|guides\/guides)\.test\.ts/);
  const isForeign = /from "(?:@opentelemetry\/exporter-|@slack\/bolt|grammy|probot)/.test(code);
  return language === "ts" && !isFile && !isForeign;
}

function sourcesOfExports(): Record<string, string[]> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.entries<{ default?: string }>(exports).filter(
    ([path]) => path !== "./package.json",
  );
  expect(entries.length).toBeGreaterThan(3);
  return Object.fromEntries(
    entries.map(([path, { default: built = "" }]) => {
      const source = built.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
      return [join("service-bot", path), [join(root, source)]];
    }),
  );
}

describe("docs/reference/configuration.md", () => {
  const text = readFileSync(join(root, "docs/reference/configuration.md"), "utf8");

  test("has the generated table of settings; if not, run `npm run docs -- configuration`", () => {
    expect(withTable(text)).toBe(text);
    expect(() => withTable("no table")).toThrow("no table");
  });

  test("agrees with the starter's .env.example on the variables", () => {
    const stored = readFileSync(join(root, "templates/starter/_env.example"), "utf8");
    // Keep only the lines that a bot on SQLite gets.
    const example = stored.replace(/^# \{\{#postgres\}\}.*?\{\{\/postgres\}\}\n/ms, "");
    const names = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names).toEqual(Object.values(settings).map(({ variable }) => variable));
  });
});
