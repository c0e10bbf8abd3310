import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";

test("each conversation has separate notes", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  for (const text of ["milk", "bread"]) await bot.dm(`/note ${text}`, { from: "ada" });
  assert.deepEqual((await bot.dm("/notes", { from: "ada" })).replies, ["1. milk\n2. bread"]);
  assert.deepEqual((await bot.dm("/notes", { from: "ben" })).replies, ["No notes."]);
  assert.deepEqual((await bot.dm("/note", { from: "ada" })).replies, ["Write /note milk."]);
  for (let n = 3; n <= 12; n++) await bot.dm(`/note ${n}`, { from: "ada" });
  assert.match((await bot.dm("/notes", { from: "ada" })).replies.join(), /^3\. 3\n.*\n12\. 12$/s);
  await bot.dm("/forget", { from: "ada" });
  assert.deepEqual(await bot.state({ from: "ada" }), undefined);
});

test("a reminder arrives on time, and only once", async (t) => {
  const bot = await testBot(createBot, { now: "2026-11-23T12:00:00Z" });
  t.after(() => bot.close());
  assert.deepEqual((await bot.dm("/remind 10m tea")).replies, ["In 10m: tea"]);
  await bot.advance("9m");
  assert.equal(bot.sent.length, 1);
  await bot.advance("24h");
  assert.equal(bot.sent.at(1)?.text, "Reminder: tea");
});

test("/remind without a time explains its usage", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const { replies } = await bot.dm("/remind soon tea");
  assert.deepEqual(replies, ["Write /remind 10m tea, or 1h30m, or 2d."]);
  assert.deepEqual(await bot.timers(), []);
});

test("the bot posts at nine every morning", async (t) => {
  const bot = await testBot(createBot, { now: "2026-11-23T07:59:00Z" });
  t.after(() => bot.close());
  await bot.advance("2d");
  const texts = bot.sent.map(({ text }) => text);
  assert.deepEqual(texts, [
    "Good morning! Today is 2026-11-23.",
    "Good morning! Today is 2026-11-24.",
  ]);
});

test("/help lists every command", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const [help = ""] = (await bot.dm("/help")).replies;
  for (const { name } of bot.bot.commands) assert.match(help, new RegExp(`^/${name} `, "m"));
});
