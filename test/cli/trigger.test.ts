import { describe, expect, test } from "vitest";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { serviceBotEnds } from "./cli.ts";

describe("service-bot trigger", () => {
  test("makes the event happen and prints its id", async () => {
    const platform = await runPlatform();
    const { code, out } = await serviceBotEnds([
      "trigger",
      "follow",
      "--from",
      "ben",
      "--platform",
      platform.url,
    ]);
    expect(code).toBe(0);
    const [event] = platform.control.events();
    expect(event).toMatchObject({ type: "follow", payload: { actor: { username: "ben" } } });
    expect(out).toBe(`follow ${event?.id}`);
  });

  test("--wait prints the bot's answer", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("mention", (ctx) => ctx.reply("at your service")));
    const args = ["trigger", "mention", "--text", "@bot hi", "--wait", "--platform", platform.url];
    const { code, out } = await serviceBotEnds(args);
    expect(code).toBe(0);
    expect(out).toContain("bot: at your service");
  });

  test("--wait is content with a delivery where bots rarely write anything", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("like", () => undefined));
    const args = ["trigger", "like", "--wait", "--platform", platform.url];
    const { code, out } = await serviceBotEnds(args);
    expect(code).toBe(0);
    expect(out).toContain("delivered; the bot wrote nothing");
  });

  test("--json prints one object with the events, and the answer with --wait", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("dm.message", (ctx) => ctx.reply("yes")));
    const args = ["trigger", "dm.message", "--text", "hi", "--wait", "--json"];
    const { out } = await serviceBotEnds(args, { env: { SERVICE_BASE_URL: platform.url } });
    expect(JSON.parse(out)).toMatchObject({
      events: [{ type: "dm.message", payload: { excerpt: "hi" } }],
      answer: { text: "yes" },
    });
  });

  test("says what the platform refused", async () => {
    const platform = await runPlatform();
    const args = ["trigger", "follow", "--text", "hi", "--platform", platform.url];
    const { code, err } = await serviceBotEnds(args);
    expect(code).toBe(1);
    expect(err).toContain("text");
  });

  test("without a platform it says what to start", async () => {
    const platform = await runPlatform();
    const { url } = platform;
    await platform.stop();
    const { code, err } = await serviceBotEnds(["trigger", "follow", "--platform", url]);
    expect(code).toBe(1);
    expect(err).toContain("npm run dev");
  });
});
