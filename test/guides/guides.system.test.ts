import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../docs/markdown.ts";
import { linkPackage } from "../support/linked-package.ts";
import { assistantFiles, exampleFiles, examples, guideFiles, testingFiles } from "./files.ts";

const run = promisify(execFile);

/** Packages that the guides import and bots do not install. */
const PACKAGES = ["express", "hono", "zod"];

const guides = [...new Set(guideFiles.map(({ guide }) => guide))];

test.each(guides)("docs/guides/%s.md has a bot and its test", (guide) => {
  const paths = guideFiles.filter((file) => file.guide === guide).map(({ path }) => path);
  expect(paths.some((path) => path.startsWith("src/"))).toBe(true);
  expect(paths.some((path) => path.startsWith("test/"))).toBe(true);
});

test.each(examples)("docs/guides/%s.md quotes examples/%s", (name) => {
  const guide = readFileSync(join(root, "docs/guides", `${name}.md`), "utf8");
  expect(guide).toContain(`<!-- quoted: examples/${name}/src/`);
  expect(guide).toContain(`npm run example ${name}`);
});

test("the tests of the guides and examples pass, as do those of docs/reference/testing.md and of the template assistant", {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "service-bot-guides-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  linkPackage(folder, { ".": "./src/index.ts", "./testing": "./src/testing/index.ts" });
  for (const name of PACKAGES) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const files = [...guideFiles, ...exampleFiles, ...testingFiles, ...assistantFiles];
  for (const { guide, path, code } of files) {
    const file = join(folder, guide, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
  // All tests share a process, because starting one takes longer than running a guide's tests.
  const args = ["--test", "--test-isolation=none", "--test-reporter=spec", "**/test/*.test.ts"];
  const env = { PATH: process.env["PATH"] };
  const { stdout, failed } = await run(process.execPath, args, { cwd: folder, env }).then(
    (result) => ({ ...result, failed: false }),
    (error: { stdout: string; stderr: string }) => ({ ...error, failed: true }),
  );
  expect(failed, stdout).toBe(false);
  const passed = Number(/^. pass (\d+)$/m.exec(stdout)?.[1]);
  expect(passed, stdout).toBeGreaterThanOrEqual(guides.length + examples.length);
});
