import { Bot } from "service-bot";

export const bot: Bot = new Bot();

bot.on("dm.message", async (ctx) => {
  // Read the whole text, because the event has only an excerpt. Replies have a maximum length.
  const text = (await ctx.text()).slice(0, 500);
  await ctx.reply(`Hi ${ctx.payload.from.name}! You wrote: ${text}`);
});

// Listen, poll and handle events until SIGTERM or Ctrl-C.
await bot.start();
