import { expect, test } from "vitest";
import type { Bot } from "../src/index.ts";
import type { ApiEntry } from "./faces/platform.ts";
import { image } from "./platform/support/images.ts";
import { PassingTime } from "./support/passing-time.ts";
import { runBot, runPlatform } from "./support/running-bot.ts";

const gateway = (headers: Record<string, string> = {}) =>
  new Response("<html><body>503</body></html>", { status: 503, headers });
const confused = () => Response.json({ error: { code: "INTERNAL", message: "who knows" } });

/** The platform accepts each message, but its first response is replaced. */
test.each<[name: string, reply: "text" | "bytes" | "key", instead: () => Response]>([
  ["success that calls itself a failure, for a text", "text", confused],
  ["gateway's 503, for a text", "text", gateway],
  ["gateway's 503 with Retry-After, for a text", "text", () => gateway({ "retry-after": "1" })],
  ["503 in JSON without a code, for a text", "text", () => Response.json({}, { status: 503 })],
  ["gateway's 503 for an image that was sent", "bytes", gateway],
  ["gateway's 503 for the key of an upload that was sent", "key", gateway],
  ["success that calls itself a failure, for an image", "bytes", confused],
])("a %s does not say it twice", async (_name, reply, instead) => {
  const time = new PassingTime();
  const { clock } = time;
  const platform = await runPlatform({ clock });
  const said: ApiEntry[] = [];
  platform.onTimeline((entry) => {
    if (entry.kind === "api" && entry.created !== undefined) said.push(entry);
  });
  let replaced = 0;
  let isDone = false;
  const refused = Promise.withResolvers<void>();
  const register = (bot: Bot) => {
    bot.on("dm.message", async (ctx) => {
      const data = await image("png");
      if (reply === "text") await ctx.reply("hello");
      else if (reply === "bytes") await ctx.reply({ text: "hello", images: [data] });
      else {
        const { key } = await ctx.upload(data);
        await ctx.reply({ text: "hello", images: [key] });
      }
      isDone = true;
    });
  };
  await runBot(platform, register, {
    clock,
    requestTimeoutMs: 500,
    retry: { baseMs: 10, maxMs: 20 },
    fetch: async (url, init) => {
      const response = await time.fetch(url, init);
      if (init.method !== "POST" || !url.endsWith("/messages") || replaced > 0) return response;
      expect(response.status).toBe(201);
      replaced += 1;
      refused.resolve();
      return instead();
    },
  });
  platform.control.act({ type: "dm.message", from: "ada", text: "hi" });
  await refused.promise;
  await time.until(() => isDone);
  expect(replaced).toBe(1);
  expect(said.filter(({ path }) => path.endsWith("/messages"))).toHaveLength(1);
});
