import { expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { RESTORED, writeRestoreMark } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { World } from "../support/world/world.ts";

const HOUR_MS = 3_600_000;

const remind = (bot: Bot) => {
  bot.on("dm.message", async (ctx) => {
    await ctx.later("remind", "1h", ctx.payload.excerpt);
    await ctx.reply("I will.");
  });
  bot.onTimer("remind", (ctx) => ctx.reply(`Reminder: ${ctx.payload.data}`));
};

async function pass(world: World, bot: Bot, ms: number): Promise<void> {
  await world.clock.advance(ms);
  await bot.idle();
  await world.settle(bot);
}

/** Replaces the world's inbox with a backup, as `service-bot inbox restore` does. */
async function restore(world: World, backup: string): Promise<void> {
  world.file = backup;
  const inbox = new SqliteInbox({ file: backup, clock: world.clock });
  const position = writeRestoreMark({ at: world.clock.now() });
  await inbox.put([], "poll", [{ name: RESTORED, position }]);
  await inbox.close();
  // After a minute, the previous bot's calls have ended.
  await world.clock.advance(60_000);
}

test("a timer in the backup that the lost bot has fired sends nothing again", async () => {
  const world = new World();
  const lost = await world.startBot(remind);
  await world.deliver(lost, world.write("ada", "tea"));
  await pass(world, lost, 1_000);
  const backup = world.copyInbox();
  await pass(world, lost, 2 * HOUR_MS);
  await world.stop(lost);
  expect(world.sentTo("ada")).toEqual(["I will.", "Reminder: tea"]);
  await restore(world, backup);
  const next = await world.startBot(remind);
  await pass(world, next, 60_000);
  expect(world.sentTo("ada")).toEqual(["I will.", "Reminder: tea"]);
  expect((await next.status()).inbox).toMatchObject({ pending: 0, deadLetters: 0 });
});

test("a timer that a repeated event sets again sends nothing again", async () => {
  const world = new World();
  const lost = await world.startBot(remind);
  const backup = world.copyInbox();
  const event = world.write("ada", "tea");
  await world.deliver(lost, event);
  await pass(world, lost, 2 * HOUR_MS);
  await world.stop(lost);
  await restore(world, backup);
  const next = await world.startBot(remind);
  await pass(world, next, 1_000);
  await world.deliver(next, event);
  await pass(world, next, 2 * HOUR_MS);
  expect(world.sentTo("ada")).toEqual(["I will.", "Reminder: tea"]);
  expect((await next.status()).inbox).toMatchObject({ pending: 0, deadLetters: 0 });
});

test("a timer of the backup that was not yet due fires after the restore", async () => {
  const world = new World();
  const lost = await world.startBot(remind);
  await world.deliver(lost, world.write("ada", "tea"));
  await pass(world, lost, 1_000);
  const backup = world.copyInbox();
  await world.stop(lost);
  await restore(world, backup);
  const next = await world.startBot(remind);
  await pass(world, next, 2 * HOUR_MS);
  expect(world.sentTo("ada")).toEqual(["I will.", "Reminder: tea"]);
  expect((await next.status()).inbox).toMatchObject({ pending: 0, deadLetters: 0 });
});
