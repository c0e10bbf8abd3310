import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";
import { directMessage } from "./events.ts";

test("a delivery with a forged signature is rejected", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const { status } = await bot.deliver(directMessage, { secret: "whsec_wrong" });
  assert.equal(status, 401);
  assert.deepEqual(bot.sent, []);
});

test("an event delivered twice is answered only once", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const event = { ...directMessage, id: "1001" };
  const first = await bot.deliver(event);
  const second = await bot.deliver(event);
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.equal(bot.sent.length, 1);
});
