/** A bot whose owner is woken at night, run by tests as a process of its own. */
import { Bot } from "../../../src/index.ts";

/** The mistake in the handler, until its owner has mended it. */
const isMended = process.env.HANDLER === "mended";

const bot = new Bot({
  requestTimeoutMs: 1_000,
  retry: { baseMs: 10, maxMs: 100 },
  // So that a small disk of a test is a usual one, and full only when nothing is left.
  minFreeBytes: 65_536,
});
bot.on("dm.message", async (ctx) => {
  const { excerpt } = ctx.payload;
  if (excerpt.includes("poison") && !isMended) throw new TypeError("cannot read its name");
  await ctx.reply(`answer to ${excerpt}`);
});
await bot.start();
