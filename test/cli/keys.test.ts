import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { KEYS, Keyboard } from "../faces/cli.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";

type Opened = (url: string) => Promise<boolean>;

async function atTerminal(open: Opened = () => Promise.resolve(true)) {
  const platform = await runPlatform({ retryIntervalMs: 50 });
  const rawModes: boolean[] = [];
  const setRawMode = (mode: boolean) => rawModes.push(mode);
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  const output = Object.assign(new PassThrough(), { columns: 40 });
  let written = "";
  let changed = Promise.withResolvers<void>();
  const wake = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const lines: string[] = [];
  const print = (line: string) => {
    lines.push(line);
    wake();
  };
  output.on("data", (chunk) => {
    written += chunk;
    wake();
  });
  const keyboard = new Keyboard({ platform, input, output, print, open });
  platform.onTimeline(wake);
  keyboard.listen();
  onTestFinished(() => keyboard.stop());
  const type = async (chunk: string, isDone: () => boolean) => {
    input.write(chunk);
    while (!isDone()) await changed.promise;
  };
  return { platform, keyboard, input, rawModes, lines, type, written: () => written };
}

test("keys like, replay, break the next delivery, switch the webhook, open the portal and quit", async () => {
  const opened: string[] = [];
  const { platform, keyboard, lines } = await atTerminal((url) =>
    Promise.resolve(opened.push(url) === 1),
  );
  const { bot } = await runBot(platform, () => undefined);
  await keyboard.press("r");
  expect(lines[0]).toContain("Press d");
  await keyboard.press("l");
  expect(platform.control.events()).toMatchObject([{ type: "like" }]);
  await keyboard.press("r");
  expect(lines.at(-1)).toBe(`replaying ${platform.control.state().lastEventId}`);
  await platform.waitFor("delivery", ({ forced, status }) => forced && status === 200);
  for (const _ of ["asks", "acts"]) await keyboard.press("f");
  expect(platform.control.faults.webhook).toMatchObject({ mode: "status", times: 1 });
  for (const _ of ["asks", "acts"]) await keyboard.press("w");
  expect(platform.control.webhook.enabled).toBe(false);
  await keyboard.press("w");
  expect(platform.control.webhook.enabled).toBe(true);
  for (const _ of ["opens", "cannot"]) await keyboard.press("o");
  expect(opened).toEqual([platform.portalUrl, platform.portalUrl]);
  expect(lines.at(-1)).toContain(`The portal is at ${platform.portalUrl}`);
  for (const key of ["?", "h"]) await keyboard.press(key);
  expect(lines.slice(-2)).toEqual([KEYS, KEYS]);
  await keyboard.press("x");
  await keyboard.press("q");
  await keyboard.quit;
  await bot.idle();
});

test("a key that disturbs the bot asks again after another key, and after a while", async () => {
  const { platform, keyboard, lines } = await atTerminal();
  platform.control.saveWebhook({ url: "http://127.0.0.1:9/webhook" });
  await keyboard.press("w", 0);
  await keyboard.press("x", 100);
  await keyboard.press("w", 200);
  await keyboard.press("w", 6_000);
  expect(lines).toEqual(Array(3).fill("Press w again to switch the webhook off."));
  expect(platform.control.webhook.enabled).toBe(true);
  await keyboard.press("w", 10_000);
  expect(platform.control.webhook.enabled).toBe(false);
});

test("neither a pasted text nor the sequence of a key acts, and Ctrl-C quits", async () => {
  const { platform, keyboard, input, type, lines } = await atTerminal();
  for (const chunk of ["ll", "l\n", "\u001b[A", "\u001bl", "\u0017"]) input.write(chunk);
  await type("?", () => lines.includes(KEYS));
  expect(platform.control.events()).toEqual([]);
  input.write("\u0003");
  await keyboard.quit;
});

test("d and m ask for a text, which is typed, corrected and sent by Enter", async () => {
  const { platform, type, written, rawModes } = await atTerminal();
  const events = () => platform.control.events();
  await type("d", () => written().includes("dm as @ada"));
  // Letters in typed text are not commands.
  await type("how are youq\u007f?\r", () => events().length === 1);
  await type("m", () => written().includes("mention as @ada"));
  await type("hello\r", () => events().length === 2);
  expect(events()).toMatchObject([
    { type: "dm.message", payload: { excerpt: "how are you?" } },
    { type: "mention", payload: { excerpt: expect.stringContaining("hello") } },
  ]);
  expect(rawModes.at(-1)).toBe(true);
});

test.each([
  ["Esc", ["hi", "\u001b"]],
  ["Enter without a text", ["\r"]],
  ["Enter after blanks", [" ", "\r"]],
])("a text is cancelled by %s, and keys act again", async (_name, chunks) => {
  const { platform, type, written, lines } = await atTerminal();
  await type("d", () => written().includes("dm as @ada"));
  for (const chunk of chunks) await type(chunk, () => true);
  await type("", () => lines.includes("Cancelled."));
  expect(platform.control.events()).toEqual([]);
  await type("?", () => lines.includes(KEYS));
});

test.each([
  ["in one chunk", ["one\ntwo\r\nthree\r"]],
  ["with its last line break apart", ["one\ntwo\rthree", "\r"]],
])("lines that are pasted as a text are one message: %s", async (_name, chunks) => {
  const { platform, type, written, lines } = await atTerminal();
  await type("d", () => written().includes("dm as @ada"));
  for (const chunk of chunks) await type(chunk, () => true);
  await type("", () => platform.control.events().length > 0);
  expect(platform.control.events()).toMatchObject([{ payload: { excerpt: "one two three" } }]);
  await type("?", () => lines.includes(KEYS));
  expect(platform.control.events()).toHaveLength(1);
});

test("a key that comes with Enter is a part of the text, and acts on nothing", async () => {
  const { platform, keyboard, type, written } = await atTerminal();
  await type("d", () => written().includes("dm as @ada"));
  let hasQuit = false;
  void keyboard.quit.then(() => {
    hasQuit = true;
  });
  await type("hi\rq", () => written().endsWith("q"));
  expect(platform.control.events()).toEqual([]);
  await type("\r", () => platform.control.events().length === 1);
  expect(platform.control.events()).toMatchObject([{ payload: { excerpt: "hi q" } }]);
  await setImmediate();
  expect(hasQuit).toBe(false);
});

test("a stop while a text is typed leaves the terminal as it was", async () => {
  const { platform, keyboard, input, type, written, rawModes } = await atTerminal();
  await type("d", () => written().includes("dm as @ada"));
  await type("hi", () => written().endsWith("hi"));
  keyboard.stop();
  await setImmediate();
  // A stream that keeps flowing would keep the process alive.
  expect(input.isPaused()).toBe(true);
  expect(rawModes.at(-1)).toBe(false);
  expect(platform.control.events()).toEqual([]);
});

test("lines are printed above the text, however long it is", async () => {
  const { keyboard, type, written, lines } = await atTerminal();
  await type("d", () => written().includes("dm as @ada"));
  await type("x".repeat(60), () => written().endsWith("x"));
  const before = written().length;
  keyboard.say("a delivery");
  await type("", () => written().length > before);
  expect(lines).toEqual(["a delivery"]);
  const redrawn = written().slice(before);
  // Moves up two rows, erases everything below, and prints the whole text again.
  expect(redrawn.startsWith("\u001b[2A\u001b[1G\u001b[0J")).toBe(true);
  expect(redrawn).toContain("x".repeat(60));
});
