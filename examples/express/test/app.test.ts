import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { sign } from "service-bot";
import { testBot } from "service-bot/testing";
import { createApp, createBot } from "../src/app.ts";

test("the bot answers a signed delivery through the app", async (t) => {
  const secret = "whsec_of_this_test";
  const bot = await testBot((options) => createBot({ ...options, webhookSecret: secret }));
  t.after(() => bot.close());
  const server = createApp(bot.bot).listen(0);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;

  const from = { userId: "u_1", username: "ada", name: "Ada" };
  const payload = { conversationId: "c_1", from, excerpt: "hi" };
  const event = { id: "1", type: "dm.message", payload, createdAt: new Date().toISOString() };
  const body = JSON.stringify({ events: [event] });
  const headers = {
    "content-type": "application/json",
    "x-service-signature": sign(body, secret, Date.now() / 1000),
  };
  const url = `http://127.0.0.1:${port}`;
  const response = await fetch(`${url}/webhook`, { method: "POST", headers, body });
  assert.equal(response.status, 200);
  await bot.bot.idle();
  assert.equal(bot.calls.at(-1)?.path, "/dm/conversations/c_1/messages");
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.equal(await (await fetch(url)).text(), "up");
});
