import { Bot } from "service-bot";

export const bot: Bot = new Bot();

bot.on("dm.message", async (ctx) => {
  const { from, excerpt } = ctx.payload;
  await ctx.reply(`Hi ${from.name}! You wrote: ${excerpt}`);
});

// Listens, polls and handles events until SIGTERM or Ctrl-C.
await bot.start();
