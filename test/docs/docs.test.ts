import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CodeBlock, codeBlocks, links, type Page, pages, prose, root } from "./markdown.ts";

const run = promisify(execFile);

test.each(pages)("$path links to files that are there", (page) => {
  expect(links(page).filter((target) => !existsSync(target))).toEqual([]);
});

/** What stands in a draft for what is not known yet. */
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
  // Inside the checkout, so that its dependencies and its own sources are found.
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules", ".cache", "docs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [index, { page, code }] of blocks.entries()) {
    const name = `${page.replaceAll(/\W/g, "_")}_${index}.ts`;
    writeFileSync(join(folder, name), `${code}\nexport {};\n`);
  }
  const paths = sourcesOfExports();
  const compilerOptions = { paths, isolatedDeclarations: false, declaration: false };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch((error) => error);
  expect(stdout).toBe("");
});

/** The reference has declarations, out of sources that are compiled. */
function isWritten({ path }: Page): boolean {
  return !path.startsWith(join("docs", "reference"));
}

/** Files of a bot, with their name in the first line, are compiled where they are written: in test/e2e/start.system.test.ts. */
function isExample({ language, code, note }: CodeBlock): boolean {
  const isFile = code.startsWith("// src/") || code.startsWith("// test/");
  if (isFile) expect(note, code).toContain("test/e2e/start.system.test.ts");
  return language === "ts" && !isFile;
}

/** The source of each entry point that package.json names. */
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

describe("docs/configuration.md", () => {
  const text = readFileSync(join(root, "docs/configuration.md"), "utf8");
  const source = readFileSync(join(root, "src/config.ts"), "utf8");
  const known = [...source.matchAll(/^ {2}(\w+): "([A-Z_]+)",$/gm)].map(([, option, name]) => ({
    option: option ?? "",
    name: name ?? "",
  }));

  test("has every variable with its option, and no other", () => {
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| `(\w+)` \|/gm)];
    const documented = rows.map(([, name, option]) => ({ option, name }));
    expect(known.length).toBeGreaterThan(10);
    expect(documented).toEqual(known);
  });

  test("agrees with the starter's .env.example on the variables", () => {
    const stored = readFileSync(join(root, "templates/starter/_env.example"), "utf8");
    // As a bot on SQLite has it.
    const example = stored.replace(/^# \{\{#postgres\}\}.*?\{\{\/postgres\}\}\n/ms, "");
    const names = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names).toEqual(known.map(({ name }) => name));
  });
});
