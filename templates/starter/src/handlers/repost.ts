import type { Context } from "service-bot";

/** Someone reposted a post of the bot. */
export async function onRepost(ctx: Context<"repost">): Promise<void> {
  ctx.log.info({ by: ctx.payload.actor.username }, "reposted");
}
