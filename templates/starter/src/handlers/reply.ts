import type { Context } from "service-bot";

/** Someone replied to the bot's comment. The answer is a comment on the same post. */
export async function onReply(ctx: Context<"reply">): Promise<void> {
  await ctx.reply(`Good point, ${ctx.payload.actor.name}.`);
}
