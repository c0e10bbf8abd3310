import type { Context } from "service-bot";

/** Someone likes a post or a comment of the bot. */
export async function onLike(ctx: Context<"like">): Promise<void> {
  ctx.log.info({ by: ctx.payload.actor.username }, "liked");
}
