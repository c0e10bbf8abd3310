import type { Context } from "service-bot";

/**
 * Maximum length of a quoted text, in characters. Longer texts are not quoted, because messages have a maximum length.
 */
const MAX_QUOTED = 500;

/** Answers a message that is not a command. */
export async function onDmMessage(ctx: Context<"dm.message">): Promise<void> {
  // Read the whole text, because the event has only an excerpt.
  const text = await ctx.text();
  const quoted = text === "" || text.length > MAX_QUOTED ? "" : ` You wrote: ${text}`;
  await ctx.reply(`Hi ${ctx.payload.from.name}!${quoted}`);
}
