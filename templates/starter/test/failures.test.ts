import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";
import { activity, directMessage } from "./events.ts";

test("a message received during an outage is answered exactly once", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  bot.refuse({ code: "AWAY", status: 503, method: "POST", path: "/dm/conversations/*/messages" });
  const { status } = await bot.deliver(directMessage);
  assert.equal(status, 200);
  assert.equal(bot.sent.length, 0);
  await bot.clock.advance(60 * 60_000);
  await bot.bot.idle();
  assert.equal(bot.sent.length, 1);
});

for (const code of ["QUOTA_EXCEEDED", "NOT_CONFIGURED"] as const) {
  test(`a mention is answered without a picture if the upload is refused: ${code}`, async (t) => {
    const bot = await testBot(createBot);
    t.after(() => bot.close());
    bot.refuse({ code, method: "POST", path: "/uploads" });
    await bot.deliver(activity("mention"));
    assert.deepEqual(bot.sent, [{ kind: "comment", postId: "p_1", text: "Hi Ada, here I am." }]);
  });
}
