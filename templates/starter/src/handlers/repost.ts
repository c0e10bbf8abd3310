import type { Context } from "service-bot";

/** Logs a repost of the bot's post. */
export async function onRepost(ctx: Context<"repost">): Promise<void> {
  ctx.log.info(`reposted by @${ctx.payload.actor.username}`);
}
