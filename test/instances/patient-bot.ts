/** A bot whose leases and requests last so long that no test waits for their end. Tests run this file as a process. */
import { Bot } from "../../src/index.ts";

const bot = new Bot({ leaseMs: 3_600_000, requestTimeoutMs: 600_000 });
bot.on("dm.message", (ctx) => ctx.reply(`re: ${ctx.payload.excerpt}`));
await bot.start();
