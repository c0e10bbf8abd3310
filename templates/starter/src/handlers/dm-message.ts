import { randomInt } from "node:crypto";
import type { Context } from "service-bot";

/** Someone wrote to the bot. The answer goes to the same conversation. */
export async function onDmMessage(ctx: Context<"dm.message">): Promise<void> {
  const { from, excerpt } = ctx.payload;
  if (excerpt === "roll") {
    // A step runs once per event: should the handler be tried again, it is the same number.
    const rolled = await ctx.step("roll", () => randomInt(1, 7));
    await ctx.reply(`You rolled a ${rolled}.`);
    return;
  }
  // The excerpt is the beginning of the text; `await ctx.messages()` reads the conversation.
  const heard = excerpt === "" ? "" : ` You wrote: ${excerpt}`;
  await ctx.reply(`Hi ${from.name}!${heard}`);
}
