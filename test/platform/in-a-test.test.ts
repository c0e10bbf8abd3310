import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { startPlatform } from "../../src/platform/index.ts";
import { codeBlocks, pages, root } from "../docs/markdown.ts";

const example = pages
  .filter(({ path }) => path === join("docs", "platform.md"))
  .flatMap(codeBlocks)
  .filter(({ language, code }) => language === "ts" && code.includes("startPlatform"));

test("the example of docs/platform.md runs, and passes", async () => {
  expect(example).toHaveLength(1);
  // Inside the checkout, so that its dependencies are found; there Node takes no TypeScript, but the example has no
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

test("platforms run side by side in one process, each with its port, its state, its clock and its bot", async () => {
  const count = 8;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const platforms = await Promise.all(numbers.map(() => startPlatform()));
  onTestFinished(async () => {
    await Promise.all(platforms.map((platform) => platform.stop()));
  });
  expect(new Set(platforms.map(({ url }) => url)).size).toBe(count);
  expect(new Set(platforms.map(({ apiKey }) => apiKey)).size).toBe(count);
  const answers = platforms.map(async (platform, number) => {
    const { url: baseUrl, apiKey, webhookSecret, control } = platform;
    const databaseUrl = "file::memory:";
    const options = { env: {}, baseUrl, apiKey, webhookSecret, port: 0, databaseUrl };
    const bot = new Bot({ ...options, logLevel: "error" });
    bot.on("dm.message", (ctx) => ctx.reply(`${number}: ${ctx.payload.excerpt}`));
    await bot.start({ standalone: false });
    onTestFinished(() => bot.stop());
    control.saveWebhook({ url: `${bot.url}/webhook` });
    control.clock.set({ advanceMs: number });
    const { conversationId = "" } = control.act({ type: "dm.message", from: "ada", text: "hi" });
    await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
    return control.messages(conversationId).map(({ text }) => text);
  });
  expect(await Promise.all(answers)).toEqual(numbers.map((number) => ["hi", `${number}: hi`]));
  for (const [number, { control }] of platforms.entries()) {
    expect(control.events()).toHaveLength(1);
    expect(control.clock.view.offsetMs).toBe(number);
  }
});
