/** The bot under test: the unmodified framework with handlers that reply, and faults inside the process. */
import fs, { openSync, readFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { Bot, type Context } from "../../../src/index.ts";
import { SAMPLE_PICTURE } from "../../faces/files.ts";
import { watchFailpoints } from "../../support/world/failpoints.ts";
import { answerTo, behaviourOf, commentOn } from "./behaviours.ts";
import { limitFile } from "./file-limit.ts";
import { keepJournal, limitDatabaseTime } from "./journal.ts";
import * as protocol from "./protocol.ts";
import { addTimers, countersSchema, handleStateAndTime } from "./state-and-time.ts";
import { moveSystemClock } from "./system-clock.ts";

const given: Partial<protocol.BotSettings> = JSON.parse(
  process.env[protocol.SETTINGS_VARIABLE] ?? "{}",
);
const settings = { ...protocol.defaultSettings, ...given };
const { answers, failpoint, runsFile, databaseTimeoutMs, synchronous, ...rest } = settings;
const { clockOffsetMs = 0, cron, journalFile, journalPid = process.pid, ...options } = rest;
const driver = process.ppid;
const runs = runsFile === undefined ? undefined : openSync(runsFile, "a");
const picture = readFileSync(SAMPLE_PICTURE);
const failures = new Map<string, number>();
const delay = monitorEventLoopDelay();
const setDisk = limitFile();

protocol.onOrder(({ disk, sample }) => {
  if (disk !== undefined) setDisk(disk);
  if (sample) void takeSample().then((taken) => process.send?.(taken));
});
moveSystemClock(clockOffsetMs);
if (synchronous !== undefined) weakenSync(synchronous);
if (journalFile !== undefined) keepJournal(journalFile, journalPid);
if (databaseTimeoutMs !== undefined) limitDatabaseTime(databaseTimeoutMs);
process.on("disconnect", () => process.exit(1));

const bot = new Bot({
  ...options,
  state: countersSchema,
  // The simulated users write so often that the loop guard would stop the replies.
  loopGuard: false,
  ...(failpoint === undefined ? {} : { fetch: armFailpoint(failpoint) }),
});
bot.on("dm.message", async (ctx) => {
  const { excerpt, conversationId } = ctx.payload;
  const behaviour = behaviourOf(excerpt);
  if (runs !== undefined) writeSync(runs, `${ctx.event.id} ${conversationId} ${ctx.late}\n`);
  await misbehave(ctx);
  if (await handleStateAndTime(ctx)) return;
  if (behaviour === "step") await ctx.step("count", () => ({ words: excerpt.length }));
  for (let n = 1; n <= answers; n++) {
    if (n > 1 && behaviour === "slow") await wait(700, undefined, { signal: ctx.signal });
    const images = behaviour === "picture" ? { images: [picture] } : {};
    await ctx.reply({ text: answerTo(excerpt, n), ...images });
  }
  // The reply has been sent. Only the outcome remains to be recorded.
  if (behaviour === "linger") await wait(500);
});
bot.on(["mention", "comment", "reply", "like"], async (ctx) => {
  const { postId, entityId = "" } = ctx.payload;
  await ctx.comment(postId ?? entityId, commentOn(ctx.event.id));
});
bot.on("follow", async (ctx) => {
  await ctx.post(commentOn(ctx.event.id));
});
if (cron !== undefined) addTimers(bot, cron);
await bot.start();
protocol.notifyDriver({ ready: bot.url ?? "" });

async function misbehave(ctx: Context<"dm.message">): Promise<void> {
  const failed = failures.get(ctx.event.id) ?? 0;
  switch (behaviourOf(ctx.payload.excerpt)) {
    case "throw":
      throw new Error("this handler always fails");
    case "once":
      if (ctx.attempt === 1) throw new Error("this handler fails once");
      break;
    case "stubborn":
      if (failed >= Number(process.env.MAX_ATTEMPTS)) break;
      failures.set(ctx.event.id, failed + 1);
      throw new Error("this handler fails until an operator retries it");
    case "hang":
      await new Promise(() => undefined);
      break;
    case "block":
      // Block the event loop until the driver exits.
      while (process.ppid === driver);
      process.exit(1);
      break;
    default:
  }
}

function armFailpoint({ at, hit }: NonNullable<protocol.BotSettings["failpoint"]>) {
  let left = hit;
  const watch = watchFailpoints((passed) => {
    if (passed !== at) return;
    left -= 1;
    if (left > 0) return;
    protocol.notifyDriver({ failpoint: at });
    process.kill(process.pid, "SIGKILL");
  });
  return watch.watchFetch(fetch);
}

async function takeSample(): Promise<protocol.BotSample> {
  delay.enable();
  const { inbox, mode } = await bot.status();
  const { rss, heapUsed, external } = process.memoryUsage();
  const loopP99 = delay.percentile(99) / 1e6;
  delay.reset();
  const handles = process.getActiveResourcesInfo().length;
  const { pending = Number.NaN, deadLetters = Number.NaN } = inbox ?? {};
  return { rss, heapUsed, external, handles, loopP99, pending, deadLetters, mode };
}

/** Lets SQLite sync only what `level` demands, and the inbox nothing. */
function weakenSync(level: string): void {
  const fdatasync = (_fd: number, done: (error: null) => void) => setImmediate(done, null);
  Object.assign(fs, { fdatasync });
  syncBuiltinESMExports();
  const { pragma } = Sqlite.prototype;
  Sqlite.prototype.pragma = function (this: Sqlite.Database, source, options) {
    const weaker = source.startsWith("synchronous = ") ? `synchronous = ${level}` : source;
    const answer: unknown = pragma.call(this, weaker, options);
    return source === "synchronous" ? 2 : answer;
  };
}
