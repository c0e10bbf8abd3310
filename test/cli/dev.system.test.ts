import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { effectToConfirm, KEYS, perform, stackLines, timelineLine } from "../faces/cli.ts";
import { AtTerminal, hasPty } from "../support/at-terminal.ts";
import { linkPackage } from "../support/linked-package.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBot, serviceBotEnds } from "./cli.ts";

/** In ms: a key that comes sooner after another one is part of a word. */
const WORD_PAUSE_MS = 500;

/** A bot's folder with `service-bot` in its node_modules: the sources of this checkout. */
function botFolder(greeting: string): { folder: string; write: (greeting: string) => void } {
  const folder = temporaryFolder();
  linkPackage(folder, { ".": "./src/index.ts", "./env": "./src/env.ts" });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const write = (text: string) =>
    writeFileSync(
      join(folder, "main.ts"),
      `import { Bot } from "service-bot";
       const bot = new Bot();
       bot.on("dm.message", (ctx) => ctx.reply(${JSON.stringify(text)}));
       await bot.start();`,
    );
  write(greeting);
  writeFileSync(join(folder, ".env"), "PORT=0\nSERVICE_BASE_URL=http://127.0.0.1:0\n");
  return { folder, write };
}

describe("service-bot dev", () => {
  test("starts both, tells their addresses, and ends with them", async () => {
    const { folder } = botFolder("hi");
    const dev = serviceBot(["dev", "--entry", "main.ts", "--port", "0"], { cwd: folder });
    await dev.line((line) => /portal +http/.test(line));
    await dev.line((line) => line.includes("ready"));
    dev.kill("SIGTERM");
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(dev.output()).toContain("stopping");
  });

  test("starts the bot again when its file changes", { timeout: 30_000 }, async () => {
    const { folder, write } = botFolder("hi");
    const dev = serviceBot(["dev", "--entry", "main.ts", "--port", "0"], { cwd: folder });
    await dev.line((line) => line.includes("ready"));
    const before = dev.stdout.length;
    write("hello");
    await dev.line((line) => dev.stdout.indexOf(line) >= before && line.includes("ready"));
  });
});

describe("service-bot dev", () => {
  test("starts the bot again with the new .env", { timeout: 30_000 }, async () => {
    const { folder } = botFolder("hi");
    const code = `import { Bot } from "service-bot";
      const bot = new Bot();
      console.log("GREETING is", process.env.GREETING);
      await bot.start();`;
    writeFileSync(join(folder, "main.ts"), code);
    const file = join(folder, ".env");
    const env = readFileSync(file, "utf8");
    writeFileSync(file, `${env}GREETING=hello\nWEBHOOK_PATH=/one\n`);
    const dev = serviceBot(["dev", "--entry", "main.ts", "--port", "0"], { cwd: folder });
    await dev.line((line) => line === "GREETING is hello");
    await dev.line((line) => line.includes("ready"));
    writeFileSync(file, `${env}GREETING=good morning\nWEBHOOK_PATH=/two\n`);
    await dev.line((line) => line.includes(".env has changed"));
    await dev.line((line) => line === "GREETING is good morning");
    await dev.line((line) => line.includes("ready") && line.endsWith("/two"));
    dev.kill("SIGTERM");
    expect(await dev.exited).toEqual({ code: 0, signal: null });
  });

  test("takes the next ports where the usual ones are taken, and delivers there", {
    timeout: 30_000,
  }, async () => {
    const { folder } = botFolder("hi");
    const taken = await listenUntilEnd(createServer());
    const port = Number(new URL(taken.url).port);
    writeFileSync(join(folder, ".env"), `SERVICE_BASE_URL=${taken.url}\n`);
    // It may be free, or not: the bot takes the next one.
    const usual = createServer().on("error", () => undefined);
    onTestFinished(() => void usual.close());
    await new Promise((resolve) =>
      usual.once("error", resolve).listen(3000, "127.0.0.1", () => resolve(undefined)),
    );
    const dev = serviceBot(["dev", "--entry", "main.ts"], { cwd: folder });
    await dev.line((line) => line.includes(`port ${port} is taken`));
    await dev.line((line) => line.includes("port 3000 is taken"));
    await dev.line((line) => line.includes("ready"));
    const portal = await dev.line((line) => /portal +http/.test(line));
    const url = /http:\S+/.exec(portal)?.[0].replace(/\/$/, "") ?? "";
    const args = ["trigger", "dm.message", "--wait", "--platform", url];
    expect(await serviceBotEnds(args)).toMatchObject({ code: 0 });
    await dev.line((line) => line.includes("<-- [200]"));
  });

  test("does not move from a port that was asked for", async () => {
    const { folder } = botFolder("hi");
    const taken = await listenUntilEnd(createServer());
    const { port } = new URL(taken.url);
    const options = { cwd: folder, env: { PORT: port } };
    const byVariable = await serviceBotEnds(["dev", "--entry", "main.ts", "--port", "0"], options);
    expect(byVariable).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Port ${port} (PORT)`),
    });
    const flags = ["dev", "--entry", "main.ts", "--port", port];
    const byFlag = await serviceBotEnds(flags, { cwd: folder });
    expect(byFlag).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Port ${port} is taken`),
    });
  });
});

test("a failed handler has one line in dev, with its stack once, and fails trigger --wait", {
  timeout: 30_000,
}, async () => {
  const { folder } = botFolder("hi");
  writeFileSync(
    join(folder, "main.ts"),
    `import { Bot } from "service-bot";
     const bot = new Bot({ retry: { baseMs: 1, maxMs: 1 }, maxAttempts: 2 });
     bot.on("dm.message", function broken() { throw new TypeError("no such thing"); });
     await bot.start();`,
  );
  const dev = serviceBot(["dev", "--entry", "main.ts", "--port", "0"], { cwd: folder });
  const portal = await dev.line((line) => /portal +http/.test(line));
  await dev.line((line) => line.includes("ready"));
  const url = /http:\S+/.exec(portal)?.[0].replace(/\/$/, "") ?? "";
  const args = ["trigger", "dm.message", "--wait", "--platform", url];
  const { code, err } = await serviceBotEnds(args);
  expect(code).toBe(1);
  expect(err).toContain("TypeError: no such thing");
  await dev.line((line) => line.includes("attempt 2 failed, dead letter"));
  const about = dev.stdout.filter((line) => line.includes("TypeError: no such thing"));
  expect(about).toHaveLength(2);
  expect(dev.stdout.filter((line) => line.includes("at broken"))).toHaveLength(1);
});

describe("the keys", () => {
  test("write, mention, like, replay, break the next delivery and switch the webhook", async () => {
    const platform = await runPlatform({ retryIntervalMs: 50 });
    const { bot } = await runBot(platform, () => undefined);
    const said: string[] = [];
    const opened: string[] = [];
    let quits = 0;
    let clears = 0;
    const options = {
      platform,
      say: (line: string) => said.push(line),
      quit: () => quits++,
      open: (url: string) => Promise.resolve(opened.push(url) === 1),
      clear: () => clears++,
      showLine: () => undefined,
    };
    const press = (key: string) => perform({ kind: "press", key }, options);
    await press("r");
    expect(said[0]).toContain("press d first");
    await perform({ kind: "send", key: "d", text: "how are you?" }, options);
    await perform({ kind: "send", key: "m", text: "what about you?" }, options);
    await press("l");
    expect(platform.control.events()).toMatchObject([
      { type: "dm.message", payload: { excerpt: "how are you?" } },
      { type: "mention", payload: { excerpt: expect.stringContaining("what about you?") } },
      { type: "like" },
    ]);
    await press("r");
    await platform.waitFor("delivery", ({ forced, status }) => forced && status === 200);
    expect(effectToConfirm("f", platform)).toBeDefined();
    await press("f");
    expect(platform.control.faults.webhook).toMatchObject({ mode: "status", times: 1 });
    expect(effectToConfirm("w", platform)).toBeDefined();
    await press("w");
    expect(platform.control.webhook.enabled).toBe(false);
    expect(effectToConfirm("w", platform)).toBeUndefined();
    await press("w");
    expect(platform.control.webhook.enabled).toBe(true);
    for (const _ of ["opens", "cannot"]) await press("o");
    expect(opened).toEqual([platform.portalUrl, platform.portalUrl]);
    expect(said.at(-1)).toContain(`The portal is at ${platform.portalUrl}`);
    for (const key of ["?", "h"]) await press(key);
    expect(said.slice(2)).toEqual([KEYS, KEYS]);
    await perform({ kind: "clear" }, options);
    await press("q");
    await press("x");
    expect({ quits, clears }).toEqual({ quits: 1, clears: 1 });
    await bot.idle();
  });
});

test.skipIf(!hasPty)(
  "at a terminal, d sends what is typed, and Ctrl-W and a pasted word do nothing",
  { timeout: 60_000 },
  async () => {
    const { folder } = botFolder("hi");
    const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
    const command = [process.execPath, main, "dev", "--entry", "main.ts", "--port", "0"];
    const dev = new AtTerminal(command, { cwd: folder });
    onTestFinished(() => dev.kill());
    await dev.screen.shows("? keys", " bot ready");
    dev.type("\u0017");
    dev.type("follow");
    await dev.screen.shows("Ignored");
    await sleep(WORD_PAUSE_MS);
    dev.type("d");
    await dev.screen.shows("Esc cancels");
    dev.type("quite well\r");
    await dev.screen.shows('@ada "quite well"', '"hi"');
    expect(dev.screen.text).not.toContain("webhook disabled");
    await sleep(WORD_PAUSE_MS);
    dev.type("q");
    expect(await dev.ended).toBe(0);
  },
);

test("the timeline shows what people do, deliveries and what the bot says, and leaves polling out", () => {
  const at = "2026-01-01T10:20:30.000Z";
  const error = { type: "TypeError", code: "E_X", message: "a\u001b[2J" };
  const stack = "TypeError: a\u001b[2J\n    at handler (bot.ts:1:2)";
  const failed = { outcome: "retry", retryInMs: 900 } as const;
  const released = { outcome: "released", retryInMs: 60_000 } as const;
  const lines = [
    { kind: "event", id: "evt_1", type: "dm.message", from: "ada", text: 'say "hi"' },
    { kind: "event", id: "evt_2", type: "like", from: "ben", lateMs: 500 },
    {
      kind: "delivery",
      id: "dlv_1",
      eventIds: ["evt_1"],
      status: 200,
      ms: 9,
      attempt: 1,
      forced: false,
    },
    {
      kind: "delivery",
      id: "dlv_2",
      eventIds: ["a", "b"],
      status: null,
      ms: 1,
      attempt: 2,
      forced: false,
      error: "refused",
    },
    {
      kind: "api",
      id: "call_1",
      method: "POST",
      path: "/dm/c/messages",
      status: 201,
      ms: 6,
      text: "hi",
    },
    { kind: "api", id: "call_1", method: "GET", path: "/events", status: 200, ms: 1 },
    { kind: "api", id: "call_1", method: "GET", path: "/events", status: 401, ms: 1 },
    { kind: "api", id: "call_1", method: "POST", path: "/posts", status: 400, ms: 1, doctor: true },
    { kind: "run", eventId: "evt_1", attempt: 1, outcome: "done", ms: 3 },
    { kind: "run", eventId: "evt_1", attempt: 1, ms: 3, ...failed, error: { ...error, stack } },
    { kind: "run", eventId: "evt_1", attempt: 2, ms: 3, ...failed, retryInMs: 1_800, error },
    { kind: "run", eventId: "evt_1", attempt: 3, ms: 3, outcome: "dead", error },
    { kind: "run", eventId: "evt_1", attempt: 3, ms: 3, ...released, error },
    { kind: "webhook", change: "disabled", reason: "10 failures" },
    { kind: "app", bot: "other", change: "disabled" },
  ] as const;
  const shown = lines.map((entry) => timelineLine({ bot: "bot", ...entry, at, seq: 1 })?.slice(9));
  expect(shown).toEqual([
    '--> dm.message evt_1 @ada "say \\"hi\\""',
    "--> like evt_2 @ben  late by 500 ms",
    "<-- [200] 9 ms  attempt 1",
    "<-- [no answer] 1 ms  attempt 2  2 events  refused",
    'api POST /dm/c/messages [201] 6 ms "hi"',
    undefined,
    "api GET /events [401] 1 ms",
    "doctor POST /posts [400] 1 ms",
    undefined,
    "!!! evt_1 attempt 1 failed: TypeError E_X: a\u001b[2J  next try in 900 ms",
    "!!! evt_1 attempt 2 failed: TypeError E_X: a\u001b[2J  next try in 2 s",
    "!!! evt_1 attempt 3 failed, dead letter: TypeError E_X: a\u001b[2J",
    "!!! evt_1 attempt 3 put off: TypeError E_X: a\u001b[2J  next try in 60 s",
    "*** webhook disabled: 10 failures",
    "*** app of @other disabled",
  ]);
  const stacks = lines.map((entry) => stackLines({ bot: "bot", ...entry, at, seq: 1 }));
  expect(stacks.flat()).toEqual(["    at handler (bot.ts:1:2)"]);
});
