import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TestProcess } from "../support/process.ts";

const BOT = fileURLToPath(new URL("blocking-bot.ts", import.meta.url));

/** Runs a bot that handles two messages in this way, in each round. Returns the blocks that it reported. */
async function blocksOf(way: string, rounds = 1): Promise<unknown[]> {
  const bot = new TestProcess([BOT, way, String(rounds)]);
  expect(await bot.exited, bot.stderr.join("\n")).toEqual({ code: 0, signal: null });
  return bot.stdout.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

const first = { handler: 'on("dm.message")', type: "dm.message", attempt: 1 };

test.each(["compute", "wait", "reply"])(
  "a handler that blocks in this way is named: %s",
  async (way) => {
    expect(await blocksOf(way)).toEqual([
      { ms: expect.any(Number), isCertain: true, suspects: [expect.objectContaining(first)] },
    ]);
  },
);

test("a handler that blocks after a timer of its own is named once it blocks again", async () => {
  expect(await blocksOf("timer", 2)).toEqual([
    { ms: expect.any(Number), isCertain: false, suspects: [expect.anything(), expect.anything()] },
    { ms: expect.any(Number), isCertain: true, suspects: [expect.objectContaining(first)] },
  ]);
});

test("a lane option that blocks is named", async () => {
  expect(await blocksOf("lane")).toEqual([
    { ms: expect.any(Number), isCertain: true, suspects: [{ handler: "lane()" }] },
  ]);
});

test("other code that blocks is reported without a handler", async () => {
  expect(await blocksOf("outside")).toEqual([
    { ms: expect.any(Number), isCertain: false, suspects: [] },
  ]);
});

test.each(["stop", "idle"])("no handler is blamed if the process was stopped: %s", async (way) => {
  expect(await blocksOf(way)).toEqual([]);
});
