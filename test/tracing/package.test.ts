import { expect, test } from "vitest";
import { TracedWorld } from "./world.ts";

test("a bot warns when no SDK records its spans, and traces in the log alone", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined), {
    tracing: "on",
  });
  expect(
    world.log.records.filter((line) => line.level === "warn" && !("platform" in line)),
  ).toHaveLength(1);
  await world.deliver(bot, [world.write("c_1", "hi")]);
  const { trace } = await bot.inbox.show("evt_0001");
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  expect(world.log.records.find(({ attempt }) => attempt === 1)).toMatchObject({ trace });
});
