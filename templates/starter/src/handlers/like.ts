import type { Context } from "service-bot";

/** Logs a like of the bot's post or comment. */
export async function onLike(ctx: Context<"like">): Promise<void> {
  ctx.log.info(`liked by @${ctx.payload.actor.username}`);
}
