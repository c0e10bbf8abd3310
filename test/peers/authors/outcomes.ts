import { setTimeout } from "node:timers/promises";
import { first } from "../../support/first.ts";
import type { TestProcess } from "../../support/process.ts";
import type { StartOptions } from "./bot-folder.ts";
import type { Author, Moment } from "./peer.ts";

/** In ms. A reminder or a post that is not there by then does not come, and what is there does not come again. */
const PATIENCE_MS = 3_000;

/** 09:00 in Paris. */
const NINE = Date.parse("2026-11-23T08:00:00Z");

/** The clock of a bot that starts so many milliseconds after 09:00. */
const atNine = (ms: number): StartOptions => ({ clockOffsetMs: NINE + ms - Date.now() });

/** Creates the bot with its platform. Several instances may need another store. */
export type CreateAuthor = (instances?: number) => Promise<Author>;

/** Two messages, of which the bot is killed at the first. The right outcome is "1, 2". */
export async function counted(create: CreateAuthor, moment: Moment): Promise<string> {
  const author = await create();
  const bot = await author.start();
  const reached = author.reaches(moment);
  await author.say("a");
  await reached;
  await restart(author, bot);
  await author.redeliver(moment);
  await author.settled();
  await author.say("b");
  await author.settled();
  return author.seen.join(", ");
}

/** A reminder in two seconds. The bot may be killed once it has confirmed the reminder. */
export async function reminded(create: CreateAuthor, killed: boolean): Promise<string> {
  const author = await create();
  const bot = await author.start();
  await author.say("/remind 2s tea");
  await author.changes.until(() => author.seen.length > 0);
  await author.settled();
  if (killed) await restart(author, bot);
  return await teas(author);
}

/** A reminder whose bot is killed before the platform has the confirmation. */
export async function remindedTorn(create: CreateAuthor): Promise<string> {
  const author = await create();
  const bot = await author.start();
  const reached = author.reaches("replying");
  await author.say("/remind 2s tea");
  await reached;
  await restart(author, bot);
  await author.redeliver("replying");
  return await teas(author);
}

/** The post of 09:00 by so many instances. */
export async function posted(create: CreateAuthor, instances: number): Promise<string> {
  const { author, bots, untilNineMs } = await startedInTime(create, instances);
  await setTimeout(untilNineMs() + PATIENCE_MS);
  const ended = bots.filter((bot) => bot.hasEnded).length;
  const posts = times(author.posts.length);
  return ended === 0 ? posts : `${posts}, by the one instance that is left`;
}

/** The post of 09:00 by a bot that is killed while it posts, and is back a minute later. */
export async function postedTorn(
  create: CreateAuthor,
  moment: "replied" | "replying",
): Promise<string> {
  const { author, bots, reached } = await startedInTime(create, 1, moment);
  await reached;
  return await postedAfter(author, first(bots));
}

/** The post of 09:00 by a bot that is killed a minute before, and is back a minute later. */
export async function postedLate(create: CreateAuthor): Promise<string> {
  const author = await create();
  return await postedAfter(author, await author.start(atNine(-60_000)));
}

/** Starts bots before 09:00 by their clock. A busy machine is slow, so that each further try has twice the time. */
async function startedInTime(
  create: CreateAuthor,
  instances: number,
  moment?: "replied" | "replying",
) {
  for (let leadMs = 3_000; ; leadMs *= 2) {
    const author = await create(instances);
    const reached = moment && author.posting(moment);
    const clock = atNine(-leadMs);
    const untilNineMs = () => NINE - (Date.now() + (clock.clockOffsetMs ?? 0));
    const bots: TestProcess[] = [];
    while (bots.length < instances) bots.push(await author.start(clock));
    if (untilNineMs() > 0) return { author, bots, reached, untilNineMs };
    for (const bot of bots) bot.kill("SIGKILL");
  }
}

async function postedAfter(author: Author, bot: TestProcess): Promise<string> {
  await restart(author, bot, atNine(60_000));
  await setTimeout(PATIENCE_MS);
  return times(author.posts.length);
}

async function restart(author: Author, bot: TestProcess, options?: StartOptions): Promise<void> {
  bot.kill("SIGKILL");
  await bot.exited;
  await author.start(options);
}

async function teas(author: Author): Promise<string> {
  await setTimeout(2_000 + PATIENCE_MS);
  return times(author.seen.filter((text) => text === "tea").length);
}

const times = (count: number) => ["never", "once", "twice"][count] ?? `${count} times`;
