import type { Context } from "service-bot";

/** Answers a comment on the bot's post, with another comment. */
export async function onComment(ctx: Context<"comment">): Promise<void> {
  await ctx.reply(`Thank you for the comment, ${ctx.payload.actor.name}.`);
}
