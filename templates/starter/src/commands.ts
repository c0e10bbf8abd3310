import { randomInt } from "node:crypto";
import type { Command, Context } from "service-bot";

/** Answers the message or mention "roll". */
export async function onRoll(ctx: Context): Promise<void> {
  // The bot records a step's result, so a retry of the handler gets the same number.
  const rolled = await ctx.step("roll", () => randomInt(1, 7), { repeatable: true });
  await ctx.reply(`You rolled a ${rolled}.`);
}

/** Answers "/help". */
export async function onHelp(ctx: Context, commands: readonly Command[]): Promise<void> {
  const lines = commands.map(({ name, description }) => `/${name}: ${description}`);
  await ctx.reply(['Write "roll", or a command:', ...lines].join("\n"));
}
