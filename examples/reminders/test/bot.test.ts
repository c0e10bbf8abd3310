import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";

test("a reminder arrives on time", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  await bot.dm("/remind 10m tea");
  const [timer] = await bot.timers();
  assert.equal(timer?.inMs, 600_000);
  await bot.advance("9m");
  assert.equal(bot.sent.length, 1);
  await bot.advance("1m");
  assert.equal(bot.sent.at(-1)?.text, "tea");
});

test("an unreadable time sets no timer", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  for (const text of ["/remind soon tea", "/remind 400d tea", "/remind"]) {
    assert.deepEqual((await bot.dm(text)).replies, ["Write /remind 10m tea, or 1h30m, or 2d."]);
  }
  assert.deepEqual(await bot.timers(), []);
});

test("an alarm replaces the previous one", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  await bot.dm("/wake");
  await bot.advance("1h");
  await bot.dm("/wake");
  await bot.advance("7h30m");
  assert.equal(bot.sent.length, 2);
  await bot.advance("30m");
  assert.equal(bot.sent.at(-1)?.text, "Wake up!");
});

test("only the reminders of the same conversation are cancelled", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  await bot.dm("/remind 10m tea", { from: "ada" });
  await bot.dm("/remind 10m coffee", { from: "ben" });
  assert.deepEqual((await bot.dm("/stop", { from: "ada" })).replies, ["Cancelled: 1"]);
  await bot.advance("1d");
  assert.equal(bot.sent.at(-1)?.text, "coffee");
  assert.equal(bot.sent.length, 4);
});
