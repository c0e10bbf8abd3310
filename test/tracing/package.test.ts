import { expect, test } from "vitest";
import { World } from "./bot.ts";

test("a bot warns when no SDK records its spans, and traces in the log alone", async () => {
  const world = new World();
  const bot = await world.start((bot) => bot.on("dm.message", () => undefined), { tracing: "on" });
  expect(
    world.records.filter((line) => line.level === "warn" && !("platform" in line)),
  ).toHaveLength(1);
  await world.deliver(bot, [world.message("hi")]);
  const { trace } = await bot.inbox.show("evt_1");
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  expect(world.records.find(({ attempt }) => attempt === 1)).toMatchObject({ trace });
});
