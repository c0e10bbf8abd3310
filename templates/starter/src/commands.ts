import { randomInt } from "node:crypto";
import type { Command, Context } from "service-bot";

/** Someone wrote "roll", in a message or in a mention. */
export async function onRoll(ctx: Context): Promise<void> {
  // A step runs once per event: should the handler be tried again, it is the same number.
  const rolled = await ctx.step("roll", () => randomInt(1, 7));
  await ctx.reply(`You rolled a ${rolled}.`);
}

/** Someone wrote "/help". */
export async function onHelp(ctx: Context, commands: readonly Command[]): Promise<void> {
  const lines = commands.map(({ name, description }) => `/${name}: ${description}`);
  await ctx.reply(['Write "roll", or a command:', ...lines].join("\n"));
}
