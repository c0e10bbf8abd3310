import type { Context } from "service-bot";

/** Someone quoted a post of the bot. */
export async function onQuote(ctx: Context<"quote">): Promise<void> {
  ctx.log.info({ by: ctx.payload.actor.username }, "quoted");
}
