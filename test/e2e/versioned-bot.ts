/** A bot that says in each answer which version it is, run by tests as a process of its own. */
import { Bot } from "../../src/index.ts";

const bot = new Bot({ loopGuard: false });
bot.on("dm.message", (ctx) => ctx.reply(`${process.env["NAMED"]}: ${ctx.payload.excerpt}`));
await bot.start();
