import { expect, test } from "vitest";
import { runBot, runPlatform } from "../support/running-bot.ts";

test("two bots on one platform reply to each other", async () => {
  const platform = await runPlatform();
  const { control } = platform;
  const other = control.apps.create({ username: "other" });
  const { bot } = await runBot(platform, (it) => {
    it.on("dm.message", (ctx) => ctx.reply(`${ctx.event.payload.excerpt} ping`));
  });
  const otherBot = await runBot(
    platform,
    (it) => {
      it.on("dm.message", (ctx) =>
        ctx.event.payload.excerpt.length < 20
          ? ctx.reply(`${ctx.event.payload.excerpt} pong`)
          : undefined,
      );
    },
    { apiKey: other.apiKey, webhookSecret: other.webhookSecret },
  );
  // runBot() always saves the first app's webhook, so save both webhooks again.
  control.saveWebhook({ url: `${otherBot.bot.url}/webhook` }, "other");
  control.saveWebhook({ url: `${bot.url}/webhook` });
  const begin = { type: "dm.message", from: "other", to: "bot", text: "go" };
  const { conversationId = "" } = control.act(begin);
  await platform.waitFor("api", ({ text }) => text === "go ping pong ping pong ping");
  expect(
    control.messages(conversationId).map(({ authorUsername, text }) => [authorUsername, text]),
  ).toEqual([
    ["other", "go"],
    ["bot", "go ping"],
    ["other", "go ping pong"],
    ["bot", "go ping pong ping"],
    ["other", "go ping pong ping pong"],
    ["bot", "go ping pong ping pong ping"],
  ]);
});
