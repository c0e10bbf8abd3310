import type { Context } from "service-bot";

/** Logs a quote of the bot's post. */
export async function onQuote(ctx: Context<"quote">): Promise<void> {
  ctx.log.info(`quoted by @${ctx.payload.actor.username}`);
}
