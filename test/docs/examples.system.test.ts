import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { guideFiles, isQuoted, pathIn } from "../guides/files.ts";
import { typeErrors } from "../support/type-errors.ts";
import { type CodeBlock, codeBlocks, pages, root } from "./markdown.ts";

test("every TypeScript example compiles, strictly", { timeout: 60_000 }, async () => {
  const blocks = pages.flatMap(codeBlocks).filter(isExample);
  expect(blocks.length).toBeGreaterThan(4);
  const files = blocks.map(({ page, code }, index) => [
    `${page.replaceAll(/\W/g, "_")}_${index}.ts`,
    `${code}\nexport {};\n`,
  ]);
  for (const { guide, path, code } of guideFiles) files.push([join(guide, path), code]);
  expect(await typeErrors(Object.fromEntries(files), { paths: sourcesOfExports() })).toBe("");
});

/**
 * A bot's file begins with its path. The files of a guide are compiled together, and other files in
 * test/e2e/start.system.test.ts. Blocks that import other packages are compiled by test/tracing/docs.system.test.ts and
 * test/peers/blocks.system.test.ts.
 */
function isExample(block: CodeBlock): boolean {
  // `npm run check` compiles examples/.
  if (isQuoted(block)) return false;
  const { language, code, note } = block;
  const isFile = pathIn(block) !== undefined;
  if (isFile) expect(note, code).toMatch(/test\/(e2e\/start|guides\/guides)\.system\.test\.ts/);
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
