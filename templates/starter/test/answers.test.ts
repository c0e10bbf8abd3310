import assert from "node:assert/strict";
import { test } from "node:test";
import { testBot } from "service-bot/testing";
import { createBot } from "../src/bot.ts";
import { activity, directMessage } from "./events.ts";

test("a direct message is answered with exactly one message", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  await bot.deliver(directMessage);
  assert.deepEqual(bot.sent.map(whereTo), ["dm in c_1"]);
});

test("roll is answered with a number from 1 to 6", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const { payload } = directMessage;
  await bot.deliver({ ...directMessage, payload: { ...payload, excerpt: "roll" } });
  assert.match(bot.sent[0]?.text ?? "", /^You rolled a [1-6]\.$/);
});

test("a message is quoted in full or not at all", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const { payload } = directMessage;
  const text = "long ".repeat(200);
  await bot.deliver({ ...directMessage, payload: { ...payload, excerpt: text } });
  const [answer] = bot.sent;
  assert.ok(answer?.text.includes("long long") === answer?.text.includes(text));
});

test("/help lists the commands, also in a mention", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  const { payload } = activity("mention");
  await bot.deliver({ type: "mention", payload: { ...payload, excerpt: "@bot /help" } });
  assert.deepEqual(bot.sent.map(whereTo), ["comment on p_1"]);
  assert.match(bot.sent[0]?.text ?? "", /^\/help: /m);
});

for (const type of ["mention", "comment", "reply"]) {
  test(`a ${type} is answered with exactly one comment on its post`, async (t) => {
    const bot = await testBot(createBot);
    t.after(() => bot.close());
    await bot.deliver(activity(type));
    assert.deepEqual(bot.sent.map(whereTo), ["comment on p_1"]);
  });
}

test("a mention is answered with a picture", async (t) => {
  const bot = await testBot(createBot);
  t.after(() => bot.close());
  await bot.deliver(activity("mention"));
  assert.deepEqual(
    bot.uploads.map(({ contentType }) => contentType),
    ["image/png"],
  );
  assert.equal(bot.sent[0]?.imageKeys?.length, 1);
});

for (const type of ["follow", "like", "repost", "quote", "type.of.tomorrow"]) {
  test(`${type} is logged, and nothing is sent`, async (t) => {
    const bot = await testBot(createBot);
    t.after(() => bot.close());
    const { status } = await bot.deliver(activity(type));
    assert.equal(status, 200);
    assert.deepEqual(bot.sent, []);
  });
}

function whereTo(sent: { kind: string; conversationId?: string; postId?: string }): string {
  return sent.kind === "dm" ? `dm in ${sent.conversationId}` : `${sent.kind} on ${sent.postId}`;
}
