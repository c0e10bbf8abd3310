import type { Context } from "service-bot";

/** Someone wrote to the bot. The answer goes to the same conversation. */
export async function onDmMessage(ctx: Context<"dm.message">): Promise<void> {
  const { from, excerpt } = ctx.payload;
  // The excerpt is the beginning of the text; `await ctx.messages()` reads the conversation.
  const heard = excerpt === "" ? "" : ` You wrote: ${excerpt}`;
  await ctx.reply(`Hi ${from.name}!${heard}`);
}
