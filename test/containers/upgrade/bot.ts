/** The bot for the upgrade tests, which uses only public imports. It pauses where a kill would be visible. */
import { setTimeout as wait } from "node:timers/promises";
import { Bot } from "../../../src/index.ts";
import { answerTo, behaviourOf } from "../../faults/bot/behaviours.ts";

/** False in the control test: without steps, a handler that runs again sends its messages again. */
const hasSteps = process.env["WITHOUT_STEPS"] !== "1";

// The test's users write more often than the loop guard allows.
const bot = new Bot({ loopGuard: false, leaseMs: 5_000 });
bot.on("dm.message", async (ctx) => {
  const { excerpt, conversationId } = ctx.payload;
  const behaviour = behaviourOf(excerpt);
  for (const n of [1, 2]) {
    if (n > 1 && behaviour === "slow") await wait(700, undefined, { signal: ctx.signal });
    const text = answerTo(excerpt, n);
    if (hasSteps) await ctx.reply(text);
    else await ctx.client.dms.send(conversationId, { text });
  }
  if (behaviour === "linger") await wait(500);
});
await bot.start();
