/** The bot of the upgrades, with what people import alone. It pauses where an end of its process would be seen. */
import { setTimeout as wait } from "node:timers/promises";
import { Bot } from "../../../src/index.ts";
import { answerTo, behaviourOf } from "../../faults/bot/behaviours.ts";

/** For a control: without steps a handler that runs again repeats what it has said. */
const hasSteps = process.env["WITHOUT_STEPS"] !== "1";

// A few people write far more than people do.
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
  // Only the end of the run is left to be recorded.
  if (behaviour === "linger") await wait(500);
});
await bot.start();
