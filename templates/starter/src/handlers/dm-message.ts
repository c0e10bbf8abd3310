import type { Context } from "service-bot";

/** A longer text is not quoted, because the platform bounds the length of a message. */
const MAX_QUOTED = 500;

/** Someone wrote to the bot, and it is no command. The answer goes to the same conversation. */
export async function onDmMessage(ctx: Context<"dm.message">): Promise<void> {
  // The whole text: the excerpt in the event may be cut.
  const text = await ctx.text();
  const quoted = text === "" || text.length > MAX_QUOTED ? "" : ` You wrote: ${text}`;
  await ctx.reply(`Hi ${ctx.payload.from.name}!${quoted}`);
}
