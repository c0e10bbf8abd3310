import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { Bot, Context, WithState } from "../../../src/index.ts";
import { behaviourOf, commentOn, groupOf, numberOf, timerAnswers } from "./behaviours.ts";
import type { BotSettings } from "./protocol.ts";

export interface Counters {
  count: number;
  fired: number;
}

export const countersSchema: z.ZodType<Counters> = z.object({
  count: z.number().default(0),
  fired: z.number().default(0),
});

const reminderSchema = z.object({ number: z.number() });

const PAUSE_MS = 50;

/** Longer than any test run, in ms. */
const FAR_MS = 3_600_000;

/** Handles a message that uses state or timers. Resolves to false for any other message. */
export async function handleStateAndTime(
  ctx: Context<"dm.message"> & WithState<Counters>,
): Promise<boolean> {
  const { excerpt } = ctx.payload;
  const behaviour = behaviourOf(excerpt);
  const number = numberOf(excerpt);
  const argument = /\((\d+)\)$/.exec(excerpt)?.[1] ?? "";
  switch (behaviour) {
    case "count":
    case "tally": {
      const state = await ctx.state();
      state.count += 1;
      if (behaviour === "tally") (await ctx.state(groupOf(excerpt))).count += 1;
      await ctx.reply(String(state.count));
      // A kill during this pause comes after the reply but before the state is written.
      if (number % 3 === 0) await wait(PAUSE_MS);
      return true;
    }
    case "remind":
      await ctx.later("remind", Number(argument), { number });
      break;
    case "rekey":
      await ctx.later("remind", FAR_MS, { number }, { key: String(number) });
      await ctx.later("remind", Number(argument), { number }, { key: String(number) });
      break;
    case "far":
      await ctx.later("remind", FAR_MS, { number }, { key: String(number) });
      break;
    case "cancel": {
      const timers = await ctx.cancel("remind", argument);
      await ctx.reply(timerAnswers.cancelled(number, timers));
      return true;
    }
    default:
      return false;
  }
  await ctx.reply(timerAnswers.set(number));
  return true;
}

export function addTimers(
  bot: Bot<Counters>,
  { pattern, postId }: NonNullable<BotSettings["cron"]>,
): void {
  bot.onTimer("remind", reminderSchema, async (ctx) => {
    (await ctx.state()).fired += 1;
    await ctx.reply(timerAnswers.due(ctx.payload.data.number));
  });
  bot.cron("tick", pattern, async (ctx) => {
    await ctx.comment(postId, commentOn(ctx.event.id));
  });
}
