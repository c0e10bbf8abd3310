import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot, type Model } from "../src/bot.ts";
import { createDurableBot } from "../src/durable.ts";

/** Returns a model that records its prompts. */
function fakeModel(): Model & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async answer(prompt) {
      asked.push(prompt);
      return `answer ${asked.length}`;
    },
  };
}

test("a repeated prompt reaches the model once, and each user gets the answer", async (t) => {
  const model = fakeModel();
  const bot = await testBot((options) => createBot(model, options));
  t.after(() => bot.close());
  assert.deepEqual((await bot.mention("what is a lane?", { from: "ada" })).replies, ["answer 1"]);
  assert.deepEqual((await bot.mention("what is a lane?", { from: "ben" })).replies, ["answer 1"]);
  assert.deepEqual((await bot.dm("what is a lane?", { from: "cleo" })).replies, ["answer 1"]);
  assert.equal(model.asked[0], "what is a lane?");
  assert.equal(model.asked.length, 1);
});

test("a mention without a question does not reach the model", async (t) => {
  const model = fakeModel();
  const bot = await testBot((options) => createBot(model, options));
  t.after(() => bot.close());
  assert.deepEqual((await bot.mention("@bot")).replies, ["Ask me something."]);
  assert.equal(model.asked.length, 0);
});

test("a durable cache answers before the model", async (t) => {
  const model = fakeModel();
  const bot = await testBot((options) => createDurableBot(model, options));
  t.after(() => bot.close());
  assert.deepEqual((await bot.mention("what is a lane?", { from: "ada" })).replies, ["answer 1"]);
  assert.deepEqual((await bot.dm("what is a lane?", { from: "ben" })).replies, ["answer 1"]);
  assert.deepEqual(model.asked, ["what is a lane?"]);
});

test("a platform outage causes no second call", async (t) => {
  const model = fakeModel();
  const bot = await testBot((options) => createBot(model, options));
  t.after(() => bot.close());
  bot.refuse({ code: "AWAY", status: 503, path: "/posts/*/comments" });
  await assert.rejects(bot.mention("hello?"));
  await bot.advance("1m");
  assert.equal(bot.sent.at(-1)?.text, "answer 1");
  assert.equal(model.asked.length, 1);
});
