import type { Context } from "service-bot";

/** Logs a new follower. The platform's API cannot follow back. */
export async function onFollow(ctx: Context<"follow">): Promise<void> {
  ctx.log.info(`followed by @${ctx.payload.actor.username}`);
}
