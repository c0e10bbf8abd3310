import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CLI } from "../faces/files.ts";
import { AtTerminal, hasPty } from "../support/at-terminal.ts";
import { linkPackage } from "../support/linked-package.ts";
import { listenUntilEnd } from "../support/listen.ts";
import type { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBot } from "./cli.ts";
import { runCommand } from "./command.ts";

function botFolder(greeting: string): string {
  const folder = temporaryFolder();
  linkPackage(folder, { ".": "./src/index.ts", "./env": "./src/env.ts" });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(folder, "main.ts"),
    `import { Bot } from "service-bot";
     const bot = new Bot();
     bot.on("dm.message", (ctx) => ctx.reply(${JSON.stringify(greeting)}));
     await bot.start();`,
  );
  writeFileSync(join(folder, ".env"), "PORT=0\nSERVICE_BASE_URL=http://127.0.0.1:0\n");
  return folder;
}

/**
 * Creates a bot that receives deliveries. With port 0, the bot would poll instead, and would skip events from before
 * its first poll.
 */
async function deliveredFolder(): Promise<string> {
  const folder = botFolder("hi");
  writeFileSync(
    join(folder, ".env"),
    `PORT=${await reservePort()}\nSERVICE_BASE_URL=http://127.0.0.1:0\n`,
  );
  return folder;
}

/** Runs `service-bot dev`, and ends it after the test together with its bot, which a killed command would leave. */
function runDev(folder: string, options: readonly string[] = ["--port", "0"]): TestProcess {
  const dev = serviceBot(["dev", "--entry", "main.ts", ...options], { cwd: folder });
  onTestFinished(async () => {
    await dev.end("SIGTERM");
  });
  return dev;
}

describe("service-bot dev", () => {
  test("starts both, starts the bot again when a file or .env changed, and ends with both", {
    timeout: 30_000,
  }, async () => {
    const folder = botFolder("hi");
    const write = (word: string) =>
      writeFileSync(
        join(folder, "main.ts"),
        `import { Bot } from "service-bot";
         console.log("${word} is", process.env.GREETING);
         const bot = new Bot();
         await bot.start();`,
      );
    write("GREETING");
    const file = join(folder, ".env");
    const env = readFileSync(file, "utf8");
    writeFileSync(file, `${env}DRAIN_MS=600000\nGREETING=hello\nWEBHOOK_PATH=/one\n`);
    const dev = runDev(folder);
    await dev.line((line) => /portal +http/.test(line));
    await dev.line((line) => line === "GREETING is hello");
    await dev.line((line) => line.includes("ready") && line.endsWith("/one"));
    write("WORD");
    await dev.line((line) => line === "WORD is hello");
    writeFileSync(file, `${env}GREETING=good morning\nWEBHOOK_PATH=/two\n`);
    await dev.line((line) => line.includes(".env changed"));
    await dev.line((line) => line === "WORD is good morning");
    await dev.line((line) => line.includes("ready") && line.endsWith("/two"));
    expect(await dev.end("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(dev.output()).toContain("stopping");
  });

  test("runs once in a folder, and restarts the bot each time a file is replaced, also after an error", {
    timeout: 30_000,
  }, async () => {
    const folder = botFolder("hi");
    const saveByRename = (code: string) => {
      writeFileSync(join(folder, "main.ts.tmp"), code);
      renameSync(join(folder, "main.ts.tmp"), join(folder, "main.ts"));
    };
    const codeOf = (word: string) => `import { Bot } from "service-bot";
      console.log("word is", "${word}");
      await new Bot().start();`;
    const dev = runDev(folder);
    await dev.line((line) => line.includes("bot ready"));
    const second = runDev(folder);
    expect(await second.exited).toMatchObject({ code: 2 });
    expect(second.stderr).toEqual([
      "`npm run dev` is already running in this folder. Stop it first.",
    ]);
    for (const word of ["one", "two"]) {
      saveByRename(codeOf(word));
      await dev.line((line) => line === `word is ${word}`);
    }
    saveByRename("not code");
    await dev.line((line) => line.includes("The bot exited with code 1"));
    saveByRename(codeOf("three"));
    await dev.line((line) => line === "word is three");
  });

  test("starts the bot again with the token that replaces a revoked one", {
    timeout: 30_000,
  }, async () => {
    const folder = await deliveredFolder();
    const dev = runDev(folder);
    const portal = await dev.line((line) => /portal +http/.test(line));
    await dev.line((line) => line.includes("ready"));
    const [, url = "", token = ""] = /(http:\S+)\/#token=(\S+)/.exec(portal) ?? [];
    const headers = { "X-Control-Token": token, "Content-Type": "application/json" };
    const control = (method: string, path: string, body: string | null = null) =>
      fetch(`${url}/control/v1${path}`, { method, headers, body });
    await control("DELETE", "/tokens/t_1");
    await control("POST", "/tokens", '{"scopes":["read","dm"]}');
    await dev.line((line) => line.includes("the app has a new token"));
    const { code } = await runCommand([
      ...["trigger", "dm.message", "--wait"],
      ...["--platform", `${url}/#token=${token}`],
    ]);
    expect(code).toBe(0);
  });

  test("takes the next ports where the usual ones are taken, and delivers there", {
    timeout: 30_000,
  }, async () => {
    const folder = botFolder("hi");
    const taken = await listenUntilEnd(createServer());
    const port = Number(new URL(taken.url).port);
    writeFileSync(join(folder, ".env"), `SERVICE_BASE_URL=${taken.url}\n`);
    // The port may already be in use. Either way, the bot takes the next port.
    const usual = createServer().on("error", () => undefined);
    onTestFinished(() => void usual.close());
    await new Promise((resolve) =>
      usual.once("error", resolve).listen(3000, "127.0.0.1", () => resolve(undefined)),
    );
    const dev = runDev(folder, []);
    await dev.line((line) => line.includes(`port ${port} is in use`));
    await dev.line((line) => line.includes("port 3000 is in use"));
    await dev.line((line) => line.includes("ready"));
    const portal = await dev.line((line) => /portal +http/.test(line));
    const url = /http:\S+/.exec(portal)?.[0].replace(/\/$/, "") ?? "";
    const args = ["trigger", "dm.message", "--wait", "--platform", url];
    expect(await runCommand(args)).toMatchObject({ code: 0 });
    await dev.line((line) => line.includes("<-- [200]"));
  });
});

test("a failed handler has one line in dev, with its stack once, and fails trigger --wait", {
  timeout: 30_000,
}, async () => {
  const folder = await deliveredFolder();
  writeFileSync(
    join(folder, "main.ts"),
    `import { Bot } from "service-bot";
     const bot = new Bot({ retry: { baseMs: 1, maxMs: 1 }, maxAttempts: 2 });
     bot.on("dm.message", function broken() { throw new TypeError("no such thing"); });
     await bot.start();`,
  );
  const dev = runDev(folder);
  const portal = await dev.line((line) => /portal +http/.test(line));
  await dev.line((line) => line.includes("ready"));
  const url = /http:\S+/.exec(portal)?.[0].replace(/\/$/, "") ?? "";
  const args = ["trigger", "dm.message", "--wait", "--platform", url];
  const { code, err } = await runCommand(args);
  expect(code).toBe(1);
  expect(err).toContain("TypeError: no such thing");
  await dev.line((line) => line.includes("attempt 2 failed, dead letter"));
  const about = dev.stdout.filter((line) => line.includes("TypeError: no such thing"));
  expect(about).toHaveLength(2);
  expect(dev.stdout.filter((line) => line.includes("at broken"))).toHaveLength(1);
  await dev.line((line) => /inbox retry evt_\w+` runs it again/.test(line));
});

test.skipIf(!hasPty)(
  "at a terminal, d sends what is typed, and Ctrl-W and a pasted word do nothing",
  { timeout: 60_000 },
  async () => {
    const folder = await deliveredFolder();
    const command = [process.execPath, CLI, "dev", "--entry", "main.ts", "--port", "0"];
    const dev = new AtTerminal(command, { cwd: folder });
    onTestFinished(() => dev.kill());
    await dev.screen.shows("? keys", " bot ready");
    dev.type("\u0017");
    dev.type("follow");
    await dev.screen.shows("is ignored");
    dev.type("d");
    await dev.screen.shows("Esc cancels");
    dev.type("quite well\r");
    await dev.screen.shows('@ada "quite well"', '"hi"');
    expect(dev.screen.text).not.toContain("webhook disabled");
    dev.type("q");
    expect(await dev.ended).toBe(0);
  },
);
