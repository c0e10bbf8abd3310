import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";

test("a command gets its arguments", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  assert.match((await bot.dm("/roll 20")).replies[0] ?? "", /^You rolled \d+ of 20\.$/);
  assert.deepEqual((await bot.dm("/roll twice")).replies, ["Write /roll 20."]);
  assert.match((await bot.mention("/roll")).replies[0] ?? "", /of 6\.$/);
});

test("a pattern matches, and other texts get the default answer", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  assert.deepEqual((await bot.dm("Hello bot")).replies, ["Hello yourself!"]);
  assert.deepEqual((await bot.dm("what now?")).replies, ["I know /help."]);
});

test("the help lists every command", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const { replies } = await bot.dm("/help");
  assert.deepEqual(replies, ["/help lists the commands\n/roll N rolls a die with N sides"]);
});
