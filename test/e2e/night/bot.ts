/** Tests run this bot as a separate process. Its faults wake its owner at night. */
import { Bot } from "../../../src/index.ts";

/** True once the owner has fixed the handler's bug. */
const isMended = process.env.HANDLER === "mended";

const bot = new Bot({
  requestTimeoutMs: 1_000,
  retry: { baseMs: 10, maxMs: 100 },
  // Lower than the default, so that a small disk does not count as full from the start.
  minFreeBytes: 65_536,
});
bot.on("dm.message", async (ctx) => {
  const { excerpt } = ctx.payload;
  if (excerpt.includes("poison") && !isMended) throw new TypeError("cannot read its name");
  await ctx.reply(`answer to ${excerpt}`);
});
await bot.start();
