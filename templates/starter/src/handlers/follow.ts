import type { Context } from "service-bot";

/** Someone follows the bot. The platform has no call to follow back, so this only takes note. */
export async function onFollow(ctx: Context<"follow">): Promise<void> {
  ctx.log.info({ by: ctx.payload.actor.username }, "followed");
}
