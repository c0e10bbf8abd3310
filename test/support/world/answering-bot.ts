/** Tests run this bot as a separate process. */
import { Bot } from "../../../src/index.ts";

const bot = new Bot({ loopGuard: false, requestTimeoutMs: 500, retry: { baseMs: 10, maxMs: 100 } });
bot.on("dm.message", async (ctx) => {
  await ctx.reply(`first answer to ${ctx.payload.excerpt}`);
  await ctx.reply(`second answer to ${ctx.payload.excerpt}`);
});
await bot.start();
