import { setTimeout } from "node:timers/promises";
import { first } from "../support/first.ts";
import type { TestProcess } from "../support/process.ts";
import type { StartOptions } from "./bot-folder.ts";
import type { Author, Moment } from "./peer.ts";

/** Time limit for the first message, in ms. Longer than the ten seconds that a resumed run waits after a crash. */
const TIMEOUT_MS = 15_000;

const REPEAT_MS = 3_000;

/** The next 09:00 in Paris that is at least two hours away. */
const NINE = nextNine(Date.now() + 7_200_000);

function nextNine(from: number): number {
  const hour = new Intl.DateTimeFormat("en", {
    hour: "2-digit",
    hourCycle: "h23",
    timeZone: "Europe/Paris",
  });
  const at = Math.ceil(from / 3_600_000) * 3_600_000;
  return hour.format(at) === "09" ? at : nextNine(at + 3_600_000);
}

const atNine = (ms: number): StartOptions => ({ clockOffsetMs: NINE + ms - Date.now() });

/** Creates a bot and its platform. A bot that runs as several instances may need another store. */
export type CreateAuthor = (instances?: number) => Promise<Author>;

/** Sends two messages and kills the bot at the first. The correct outcome is "1, 2". */
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

/** Sets a reminder that is due in two seconds. The bot may be killed once it has confirmed the reminder. */
export async function reminded(create: CreateAuthor, killed: boolean): Promise<string> {
  const author = await create();
  const bot = await author.start();
  await author.say("/remind 2s tea");
  await author.changes.until(() => author.seen.length > 0);
  await author.settled();
  if (killed) await restart(author, bot);
  return await teas(author);
}

/** Sets a reminder, and kills the bot before the platform receives the confirmation. */
export async function remindedTorn(create: CreateAuthor): Promise<string> {
  const author = await create();
  const bot = await author.start();
  const reached = author.reaches("replying");
  await author.say("/remind 2s tea");
  await reached;
  await restart(author, bot);
  await author.redeliver("replying");
  await author.settled();
  return await teas(author);
}

export async function posted(create: CreateAuthor, instances: number): Promise<string> {
  const { author, bots } = await startedInTime(create, instances);
  const posts = await times(author, () => author.posts.length);
  const ended = bots.filter((bot) => bot.hasEnded).length;
  return ended === 0 ? posts : `${posts}, by the remaining instance`;
}

/** Kills the bot during the 09:00 post, and restarts it a minute later. */
export async function postedTorn(
  create: CreateAuthor,
  moment: "replied" | "replying",
): Promise<string> {
  const { author, bots, reached } = await startedInTime(create, 1, moment);
  await reached;
  return await postedAfter(author, first(bots));
}

export async function postedLate(create: CreateAuthor): Promise<string> {
  const author = await create();
  const bot = await author.start();
  await author.say("a");
  await author.settled();
  return await postedAfter(author, bot);
}

/**
 * Starts bots before 09:00 on their clocks. Each further attempt allows twice the time, for busy machines. Up to seven
 * bots start at the same time, so two cores need more than three seconds.
 */
async function startedInTime(
  create: CreateAuthor,
  instances: number,
  moment?: "replied" | "replying",
) {
  for (let leadMs = 10_000; ; leadMs *= 2) {
    const author = await create(instances);
    const reached = moment && author.posting(moment);
    const clock = atNine(-leadMs);
    const bots: TestProcess[] = [];
    while (bots.length < instances) bots.push(await author.start(clock));
    if (Date.now() + (clock.clockOffsetMs ?? 0) < NINE) return { author, bots, reached };
    for (const bot of bots) bot.kill("SIGKILL");
  }
}

async function postedAfter(author: Author, bot: TestProcess): Promise<string> {
  const next = await restart(author, bot, atNine(60_000));
  const posts = await times(author, () => author.posts.length);
  return next.output().includes("dead letter") ? `${posts}, with a dead letter` : posts;
}

async function restart(
  author: Author,
  bot: TestProcess,
  options?: StartOptions,
): Promise<TestProcess> {
  bot.kill("SIGKILL");
  await bot.exited;
  return await author.start(options);
}

function teas(author: Author): Promise<string> {
  return times(author, () => author.seen.filter((text) => text === "tea").length);
}

/** Waits until no further message can arrive, and returns the final count. */
async function times(author: Author, count: () => number): Promise<string> {
  await Promise.race([author.changes.until(() => count() > 0), setTimeout(TIMEOUT_MS)]);
  await setTimeout(REPEAT_MS);
  return ["never", "once", "twice"][count()] ?? `${count()} times`;
}
