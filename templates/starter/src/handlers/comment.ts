import type { Context } from "service-bot";

/** Someone commented on the bot's post. The answer is a comment below it. */
export async function onComment(ctx: Context<"comment">): Promise<void> {
  await ctx.reply(`Thank you for the comment, ${ctx.payload.actor.name}.`);
}
