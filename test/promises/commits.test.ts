import { channel } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { World } from "../support/world/world.ts";

const answer = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    const { excerpt } = ctx.payload;
    if (excerpt !== "quiet") await ctx.reply(excerpt);
  });

function hear(name: string, listener: () => void): void {
  channel(`service-bot:${name}`).subscribe(listener);
  onTestFinished(() => void channel(`service-bot:${name}`).unsubscribe(listener));
}

/** Returns the number of commits from an event's delivery to its end. */
async function commitsFor(text: string): Promise<number> {
  const world = new World();
  const bot = await world.startBot(answer);
  const event = world.write("ada", text);
  let commits = 0;
  const seen: number[] = [];
  hear("transaction", () => {
    commits += 1;
  });
  hear("run", () => seen.push(commits));
  await world.deliver(bot, event);
  await world.settle(bot);
  expect(seen).toHaveLength(1);
  const { steps } = await bot.inbox.show(event.id);
  expect(steps.map(({ state }) => state)).toEqual(text === "quiet" ? [] : ["done"]);
  return seen[0] ?? 0;
}

test("an event takes two commits, and three with a reply", async () => {
  expect(await commitsFor("quiet")).toBe(2);
  expect(await commitsFor("hello")).toBe(3);
});
