import { randomInt } from "node:crypto";
import { Bot, type BotOptions } from "service-bot";

export function createBot(options: BotOptions = {}): Bot {
  const bot = new Bot(options);

  bot.command("help", { description: "lists the commands" }, async (ctx) => {
    const lines = bot.commands.map(({ name, description }) => `/${name} ${description}`);
    await ctx.reply(lines.join("\n"));
  });

  bot.command("roll", { description: "N rolls a die with N sides" }, async (ctx) => {
    const sides = Number(ctx.command.args || 6);
    if (!Number.isInteger(sides) || sides < 2) {
      await ctx.reply("Write /roll 20.");
      return;
    }
    // A step, because a retry must not roll again.
    const rolled = await ctx.step("roll", () => randomInt(1, sides + 1));
    await ctx.reply(`You rolled ${rolled} of ${sides}.`);
  });

  bot.hears(/^(?:hi|hello)\b/i, (ctx) => ctx.reply(`${ctx.match[0]} yourself!`));

  bot.on(["dm.message", "mention"], (ctx) => ctx.reply("I know /help."));
  return bot;
}
