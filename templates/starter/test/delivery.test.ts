import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";
import { directMessage } from "./events.ts";

test("a forged signature is refused, and nothing is handled", async () => {
  const bot = await testBot(createBot);
  const { status } = await bot.deliver(directMessage, { secret: "whsec_wrong" });
  assert.equal(status, 401);
  assert.deepEqual(bot.sent, []);
  await bot.close();
});

test("an event that is delivered twice is answered once", async () => {
  const bot = await testBot(createBot);
  const event = { ...directMessage, id: "evt_1" };
  const first = await bot.deliver(event);
  const second = await bot.deliver(event);
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.equal(bot.sent.length, 1);
  await bot.close();
});
