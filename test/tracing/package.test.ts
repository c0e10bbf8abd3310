import { expect, test } from "vitest";
import { loadApi } from "../faces/observe.ts";
import { World } from "./bot.ts";

test("a start is refused where the API is not installed, with what to do", async () => {
  const missing = Object.assign(new Error("Cannot find package '@opentelemetry/api'"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await expect(loadApi(() => Promise.reject(missing))).rejects.toMatchObject({
    code: "TRACING_MISSING",
    message: expect.stringContaining("npm install @opentelemetry/api"),
  });
});

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
