import { Bot, type BotOptions, ServiceBotError } from "service-bot";
import { z } from "zod";

const reminder = z.object({ text: z.string() });

export function createBot(options: BotOptions = {}): Bot {
  const bot = new Bot(options);

  bot.command("remind", { description: "10m TEXT reminds you" }, async (ctx) => {
    const [, span, text] = /^(\S+)\s+(\S.*)$/s.exec(ctx.command.args) ?? [];
    try {
      await ctx.later("remind", span ?? "", { text });
    } catch (error) {
      // The time is unreadable, or more than 365 days away. No timer was set.
      if (!(error instanceof ServiceBotError) || error.code !== "INVALID_OPTION") throw error;
      await ctx.reply("Write /remind 10m tea, or 1h30m, or 2d.");
      return;
    }
    await ctx.reply(`In ${span}: ${text}`);
  });

  // The key makes a second /wake replace the first.
  bot.command("wake", { description: "wakes you in eight hours" }, async (ctx) => {
    await ctx.later("remind", "8h", { text: "Wake up!" }, { key: "wake" });
    await ctx.reply("Good night.");
  });

  bot.command("stop", { description: "cancels this conversation's reminders" }, async (ctx) => {
    await ctx.reply(`Cancelled: ${await ctx.cancel("remind")}`);
  });

  // The schema types ctx.payload.data.
  bot.onTimer("remind", reminder, (ctx) => ctx.reply(ctx.payload.data.text));
  return bot;
}
