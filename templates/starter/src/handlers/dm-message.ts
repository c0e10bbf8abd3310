import type { Context } from "service-bot";

/** In characters. Longer texts are not quoted, because a message has a maximum length. */
const MAX_QUOTED = 500;

/** Answers a message that is not a command, in the same conversation. */
export async function onDmMessage(ctx: Context<"dm.message">): Promise<void> {
  // Reads the whole text, because the event has only an excerpt.
  const text = await ctx.text();
  const quoted = text === "" || text.length > MAX_QUOTED ? "" : ` You wrote: ${text}`;
  await ctx.reply(`Hi ${ctx.payload.from.name}!${quoted}`);
}
