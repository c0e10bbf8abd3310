import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";
import { activity, directMessage } from "./events.ts";

test("a direct message is answered with exactly one message", async () => {
  const bot = await testBot(createBot);
  await bot.deliver(directMessage);
  assert.deepEqual(bot.sent, [
    { kind: "dm", conversationId: "c_1", text: "Hi Ada! You wrote: hello" },
  ]);
  await bot.close();
});

for (const type of ["mention", "comment", "reply"] as const) {
  test(`a ${type} is answered with exactly one comment on its post`, async () => {
    const bot = await testBot(createBot);
    await bot.deliver(activity(type));
    assert.deepEqual(
      bot.sent.map(({ kind, ...rest }) => [kind, "postId" in rest && rest.postId]),
      [["comment", "p_1"]],
    );
    await bot.close();
  });
}

for (const type of ["follow", "like", "repost", "quote", "something.new"]) {
  test(`${type} is taken note of, and nothing is sent`, async () => {
    const bot = await testBot(createBot);
    const { status } = await bot.deliver(activity(type));
    assert.equal(status, 200);
    assert.deepEqual(bot.sent, []);
    await bot.close();
  });
}
