import type { Context } from "service-bot";

/** Logs a repost of the bot's post. */
export async function onRepost(ctx: Context<"repost">): Promise<void> {
  ctx.log.info({ by: ctx.payload.actor.username }, "reposted");
}
