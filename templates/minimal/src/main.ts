import { Bot } from "service-bot";

export const bot: Bot = new Bot();

bot.on("dm.message", async (ctx) => {
  // The whole text: the excerpt in the event may be cut. A reply has a bound, too.
  const text = (await ctx.text()).slice(0, 500);
  await ctx.reply(`Hi ${ctx.payload.from.name}! You wrote: ${text}`);
});

// Listens, polls and handles events until SIGTERM or Ctrl-C.
await bot.start();
