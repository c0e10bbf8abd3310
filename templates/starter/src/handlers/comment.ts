import type { Context } from "service-bot";

/** Comments below the comment on the bot's post. */
export async function onComment(ctx: Context<"comment">): Promise<void> {
  await ctx.reply(`Thank you for the comment, ${ctx.payload.actor.name}.`);
}
