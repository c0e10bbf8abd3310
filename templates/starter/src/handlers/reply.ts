import type { Context } from "service-bot";

/** Answers a reply to the bot's comment, as a comment on the same post. */
export async function onReply(ctx: Context<"reply">): Promise<void> {
  await ctx.reply(`Good point, ${ctx.payload.actor.name}.`);
}
