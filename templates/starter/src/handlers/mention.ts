import type { Context } from "service-bot";

/** Someone mentioned the bot in a post or a comment. The answer is a comment on that post. */
export async function onMention(ctx: Context<"mention">): Promise<void> {
  await ctx.reply(`Hi ${ctx.payload.actor.name}, here I am.`);
}
