import { createHash } from "node:crypto";
import { Bot, type BotOptions } from "service-bot";
import { z } from "zod";
import type { Model } from "./bot.ts";

const Answer = z.object({ text: z.string().optional() });

export function createDurableBot(model: Model, options: BotOptions = {}): Bot {
  const bot = new Bot(options);
  bot.hears(/.+/s, async (ctx) => {
    const prompt = ctx.match[0];
    const hash = createHash("sha256").update(prompt).digest("hex");
    const known = await ctx.state(`answer:${hash}`, Answer);
    const ask = async () => known.text ?? (await model.answer(prompt, ctx.signal));
    const text = await ctx.step("answer", ask, { repeatable: true });
    known.text ??= text;
    await ctx.reply(text);
  });
  return bot;
}
