import { join } from "node:path";
import { expect, test } from "vitest";
import { kindOf, type LogRecord } from "../support/log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { World } from "./bot.ts";

function linesOf(records: readonly LogRecord[], trace: string | undefined): string[] {
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  return records.filter((line) => line["trace"] === trace).map(kindOf);
}

test("every line from the delivery to the reply has one id, also of the next process", async () => {
  const world = new World();
  const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
  const traces: unknown[] = [];
  const run = (fails: boolean) =>
    world.start(
      (bot) =>
        bot.on("dm.message", async (ctx) => {
          traces.push(ctx.trace);
          ctx.log.info("at work");
          await ctx.client.me();
          if (fails) throw new Error("a mistake");
          await ctx.reply("hi");
        }),
      { databaseUrl },
    );
  const first = await run(true);
  await world.deliver(first, [world.message("hello")]);
  await first.stop();
  const second = await run(false);
  await world.clock.advance(1_000);
  await second.idle();
  const { trace } = await second.inbox.show("evt_1");
  expect(linesOf(world.records, trace)).toEqual([
    "delivery",
    ...["handler", "request", "retry"],
    // Before the first reply, the bot asks the platform for the time.
    ...["handler", "request", "request", "request", "step", "handled"],
  ]);
  expect(traces).toEqual([trace, trace]);
  // The log line about the reply names its event and step.
  expect(world.records.find((line) => kindOf(line) === "step")).toMatchObject({
    ...{ level: "debug", trace, event: "evt_1", step: "reply/1", outcome: "made" },
    ref: expect.any(String),
  });
  // Every line about the event has its trace.
  const about = world.records.filter((line) => line["event"] === "evt_1");
  expect(about.length).toBeGreaterThan(7);
  for (const line of about) expect(line).toMatchObject({ trace });
});

test("a run that is postponed for the platform logs the trace of its event", async () => {
  const world = new World();
  const bot = await world.start(
    (bot) => bot.on("dm.message", async (ctx) => void (await ctx.client.me())),
    { requestRetries: 0 },
  );
  world.platform.refuse({ code: "X", status: 503, method: "GET", times: Infinity });
  for (let n = 0; n < 30; n++) await world.deliver(bot, [world.message("hi", `c_${n}`)]);
  const line = world.records.find(
    (line) => kindOf(line) === "retry" && line["operation"] !== undefined,
  );
  const { trace } = await bot.inbox.show(String(line?.["event"]));
  expect(line).toMatchObject({ level: "warn", trace });
});

test("a dead letter has the id, and so has what could not be handled at the door", async () => {
  const world = new World();
  const bot = await world.start(
    (bot) =>
      bot.on("dm.message", () => {
        throw new Error("a mistake");
      }),
    { maxAttempts: 1 },
  );
  await world.deliver(bot, [world.message("hello")]);
  const { trace } = await bot.inbox.show("evt_1");
  expect(linesOf(world.records, trace)).toEqual(["delivery", "dead letter"]);
  await world.deliver(bot, [{ id: "bad", type: "dm.message", payload: {} }]);
  const bad = await bot.inbox.show("bad");
  expect(linesOf(world.records, bad.trace)).toEqual(["delivery"]);
  expect(world.records.at(-1)).toMatchObject({ level: "error", unusable: 1 });
});

test("events of one delivery share the id, of two they do not; a repeat leaves it as it was", async () => {
  const world = new World();
  const bot = await world.start((bot) => bot.on("dm.message", () => undefined));
  const events = [world.message("one"), world.message("two", "c_2"), world.message("three")];
  const trace = async (id: string) => (await bot.inbox.show(id)).trace;
  await world.deliver(bot, events.slice(0, 2));
  const before = await trace("evt_1");
  await world.deliver(bot, events);
  expect(await trace("evt_1")).toBe(before);
  expect(await trace("evt_2")).toBe(before);
  expect(await trace("evt_3")).not.toBe(before);
  expect(linesOf(world.records, before)).toEqual(["delivery", "handled", "handled"]);
  expect(linesOf(world.records, await trace("evt_3"))).toEqual(["delivery", "handled"]);
});

test("a log page with new events has its own id", async () => {
  const world = new World();
  const bot = await world.start((bot) => bot.on("dm.message", () => undefined), {
    ...{ delivery: "polling", startFrom: "oldest" },
  });
  world.message("hello");
  while ((await bot.inbox.stats()).done === 0) await world.clock.advance(4_000);
  const { trace } = await bot.inbox.show("evt_1");
  expect(linesOf(world.records, trace)).toEqual(["page", "handled"]);
  const line = world.records.find((line) => kindOf(line) === "page");
  expect(line).toMatchObject({ level: "info", events: 1, stored: 1, duplicates: 0, unusable: 0 });
});
