import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocks, pages, root } from "../docs/markdown.ts";

const example = pages
  .filter(({ path }) => path === join("docs/reference/local-platform.md"))
  .flatMap(codeBlocks)
  .filter(({ language, code }) => language === "ts" && code.includes("startPlatform"));

test("the example in docs/reference/local-platform.md runs and passes", async () => {
  expect(example).toHaveLength(1);
  // Imports resolve inside the checkout. Node does not strip types below node_modules, but the example contains no
  // types.
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules", ".cache", "in-a-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "bot.test.mjs");
  const source = (path: string) => JSON.stringify(pathToFileURL(join(root, path)).href);
  const code = (example[0]?.code ?? "")
    .replace('"service-bot/platform"', source("src/platform/index.ts"))
    .replace('"service-bot"', source("src/index.ts"));
  expect(code).not.toContain('"service-bot');
  writeFileSync(file, code);
  const args = ["--test", "--test-reporter=tap", file];
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toMatch(/^# pass 1$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});
