/**
 * The bot under test: the framework as it is, a handler that answers, and a few ways to hurt it. What
 * a message says decides what its handler does, so that a driver needs no other way in.
 */
import { openSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { Bot, type Context } from "../../../src/index.ts";
import { answerTo, behaviourOf } from "../driver/texts.ts";
import { arm } from "./failpoints.ts";
import { limitFile } from "./file-limit.ts";
import { hurryDatabase, keepJournal } from "./journal.ts";
import { onOrder } from "./orders.ts";
import { readSettings } from "./settings.ts";
import { moveSystemClock } from "./system-clock.ts";
import { tell } from "./tell.ts";

const settings = readSettings(process.env);
const { answers, failpoint, runsFile, journalFile, databaseTimeoutMs, ...rest } = settings;
const { clockOffsetMs = 0, ...options } = rest;
const driver = process.ppid;
const runs = runsFile === undefined ? undefined : openSync(runsFile, "a");
const setDisk = limitFile();
onOrder(({ disk }) => {
  if (disk !== undefined) setDisk(disk);
});
moveSystemClock(clockOffsetMs);
if (journalFile !== undefined) keepJournal(journalFile);
if (databaseTimeoutMs !== undefined) hurryDatabase(databaseTimeoutMs);
// A driver that is gone leaves no bots behind.
process.on("disconnect", () => process.exit(1));

const bot = new Bot({
  ...options,
  // A few people write far more than people do.
  loopGuard: false,
  ...(failpoint === undefined ? {} : { fetch: arm(failpoint) }),
});
bot.on("dm.message", async (ctx) => {
  const { excerpt, conversationId } = ctx.payload;
  if (runs !== undefined) writeSync(runs, `${ctx.event.id} ${conversationId} ${ctx.late}\n`);
  await misbehave(ctx);
  for (let n = 1; n <= answers; n++) {
    if (n > 1 && behaviourOf(excerpt) === "slow")
      await wait(700, undefined, { signal: ctx.signal });
    await ctx.reply(answerTo(excerpt, n));
  }
  // Nothing but the end of the run is left to be written down.
  if (behaviourOf(excerpt) === "linger") await wait(500);
});
await bot.start();
tell({ ready: bot.url ?? "" });

async function misbehave(ctx: Context<"dm.message">): Promise<void> {
  switch (behaviourOf(ctx.payload.excerpt)) {
    case "throw":
      throw new Error("this handler always fails");
    case "hang":
      // Not even the signal ends it.
      await new Promise(() => undefined);
      break;
    case "block":
      // Nothing else in this process runs any more; it ends when its driver is gone.
      while (process.ppid === driver);
      process.exit(1);
      break;
    default:
  }
}
