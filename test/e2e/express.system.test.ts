import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../docs/markdown.ts";
import { linkPackage } from "../support/linked-package.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { reservePort } from "../support/reserve-port.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { BotProcess } from "../support/world/bot-process.ts";

const EXAMPLE = join(root, "examples/express/src");

/** Copies examples/express, with a handler that waits for a response from `gate`. */
function writeExample(gate: string): string {
  const folder = temporaryFolder();
  linkPackage(folder, { ".": "./src/index.ts" });
  const express = dirname(createRequire(import.meta.url).resolve("express/package.json"));
  symlinkSync(express, join(folder, "node_modules", "express"));
  const example = readFileSync(join(EXAMPLE, "app.ts"), "utf8");
  const waits = `async (ctx) => { console.log("handling"); await fetch(${JSON.stringify(gate)}); await ctx.reply("hello"); }`;
  const code = example.replace('(ctx) => ctx.reply("hello")', waits);
  expect(code).toContain(waits);
  writeFileSync(join(folder, "app.ts"), code);
  const main = join(folder, "main.ts");
  copyFileSync(join(EXAMPLE, "main.ts"), main);
  return main;
}

test("the Express application of the example exits with 0 on SIGTERM, after the running handler", async () => {
  const platform = await runPlatform();
  const opened = Promise.withResolvers<void>();
  onTestFinished(() => opened.resolve());
  const server = createServer((_request, response) => {
    void opened.promise.then(() => response.end());
  });
  const gate = await listenUntilEnd(server);
  const file = writeExample(gate.url);
  const port = await reservePort();
  const env = { DELIVERY: "webhook", PORT: String(port) };
  const app = new BotProcess(platform, { script: file, cwd: dirname(file), env });
  await app.message("ready");
  platform.control.saveWebhook({ url: `http://127.0.0.1:${port}/webhook` });
  const { conversationId = "" } = platform.control.act({
    ...{ type: "dm.message", from: "ada", text: "hi" },
  });
  await app.line((line) => line === "handling");
  app.kill("SIGTERM");
  await app.message("stopping");
  opened.resolve();
  expect(await app.exited).toEqual({ code: 0, signal: null });
  expect(platform.control.messages(conversationId).map(({ text }) => text)).toEqual([
    "hi",
    "hello",
  ]);
});
