import { expect, onTestFinished, test } from "vitest";
import { type Bot, GiveUp, ServiceBotError } from "../../src/index.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { World } from "../support/world/world.ts";

/** Lets the store refuse the results of steps. Effects that a search finds can be recorded. */
function refuseResults(): void {
  const { prototype } = SqliteInbox;
  prototype.finishStep = () => Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "down"));
  // The method is inherited.
  onTestFinished(() => void Reflect.deleteProperty(prototype, "finishStep"));
}

const replyAndGiveUp = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    await ctx.reply("once");
    throw new GiveUp("not today");
  });

test("an event becomes a dead letter only once its reply is recorded, and is answered once", async () => {
  const world = new World();
  const bot = await world.startBot(replyAndGiveUp);
  refuseResults();
  const event = world.write("ada", "hello");
  await world.deliver(bot, event);
  await world.settle(bot);
  expect(world.sentTo("ada")).toEqual(["once"]);
  const { state, steps } = await bot.inbox.show(event.id);
  expect([state, steps.map((step) => step.state)]).toEqual(["dead", ["done"]]);
});
