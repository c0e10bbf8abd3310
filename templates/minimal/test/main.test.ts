import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlatform } from "service-bot/platform";

test("a direct message is answered with one message", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.stop());
  Object.assign(process.env, {
    SERVICE_BASE_URL: platform.url,
    SERVICE_API_KEY: platform.apiKey,
    SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
    DATABASE_URL: "file::memory:",
    PORT: "0",
    LOG_LEVEL: "warn",
  });
  const { bot } = await import("../src/main.ts");
  t.after(() => bot.stop());
  platform.control.saveWebhook({ url: `${bot.url}/webhook` });

  const { conversationId = "" } = platform.control.act({
    type: "dm.message",
    from: "ada",
    text: "hello",
  });
  await platform.waitFor("api", ({ text }) => text === "Hi Ada! You wrote: hello");
  await bot.idle();
  const messages = platform.control.messages(conversationId);
  assert.equal(messages.filter(({ fromBot }) => fromBot).length, 1);
});
