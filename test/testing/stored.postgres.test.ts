import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { testBot } from "../../src/testing/index.ts";
import { Bot } from "../faces/bot.ts";
import { emptyPlace } from "../support/postgres/open.ts";

test("a bot under test on PostgreSQL has its states, and passes its timers and cron in order", async () => {
  const place = await emptyPlace();
  const order: string[] = [];
  const bot = await testBot(
    (options) => {
      const { url: databaseUrl, schema: databaseSchema } = place;
      const state = z.object({ count: z.number().default(0) });
      const made = new Bot({ ...options, databaseUrl, databaseSchema, state });
      made.on("dm.message", async (ctx) => {
        (await ctx.state()).count += 1;
        await ctx.later("nudge", "90m");
      });
      made.onTimer("nudge", () => order.push("timer"));
      made.cron("hourly", "0 * * * *", { missed: "none" }, (ctx) =>
        order.push(ctx.payload.dueAt.slice(11, 13)),
      );
      return made;
    },
    { now: "2026-11-23T08:00:00Z" },
  );
  onTestFinished(() => bot.close());
  await bot.dm("one");
  expect(await bot.state()).toEqual({ count: 1 });
  expect(await bot.timers()).toMatchObject([{ name: "nudge", inMs: 5_400_000 }]);
  await bot.advance("3h");
  expect(order).toEqual(["09", "timer", "10", "11"]);
});
