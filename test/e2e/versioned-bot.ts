/** A bot that includes its version in each reply. Tests run it as a separate process. */
import { Bot } from "../../src/index.ts";

const bot = new Bot({ loopGuard: false });
bot.on("dm.message", (ctx) => ctx.reply(`${process.env["NAMED"]}: ${ctx.payload.excerpt}`));
await bot.start();
