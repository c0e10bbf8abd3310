import { expect, onTestFinished, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { startPlatform } from "../faces/platform.ts";

test("platforms run side by side in one process, each with its own port, state, clock and bot", async () => {
  const count = 8;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const platforms = await Promise.all(numbers.map(() => startPlatform()));
  onTestFinished(async () => {
    await Promise.all(platforms.map((platform) => platform.stop()));
  });
  expect(new Set(platforms.map(({ url }) => url)).size).toBe(count);
  const secrets = platforms.flatMap(({ apiKey, webhookSecret }) => [apiKey, webhookSecret]);
  expect(new Set(secrets).size).toBe(2 * count);
  const answers = platforms.map(async (platform, number) => {
    const { url: baseUrl, apiKey, webhookSecret, control } = platform;
    const databaseUrl = "file::memory:";
    const options = { env: {}, baseUrl, apiKey, webhookSecret, port: 0, databaseUrl };
    const bot = new Bot({ ...options, logLevel: "error" });
    bot.on("dm.message", (ctx) => ctx.reply(`${number}: ${ctx.payload.excerpt}`));
    await bot.start({ standalone: false });
    onTestFinished(() => bot.stop());
    control.saveWebhook({ url: `${bot.url}/webhook` });
    control.clock.set({ advanceMs: number });
    const { conversationId = "" } = control.act({ type: "dm.message", from: "ada", text: "hi" });
    await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
    return control.messages(conversationId).map(({ text }) => text);
  });
  expect(await Promise.all(answers)).toEqual(numbers.map((number) => ["hi", `${number}: hi`]));
  for (const [number, { control }] of platforms.entries()) {
    expect(control.events()).toHaveLength(1);
    expect(control.clock.view.offsetMs).toBe(number);
  }
});
