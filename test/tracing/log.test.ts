import { expect, test } from "vitest";
import { kindOf, type LogRecord } from "../support/log.ts";
import { sqlite } from "../support/world/stores.ts";
import { TracedWorld } from "./world.ts";

function linesOf(records: readonly LogRecord[], trace: string | undefined): string[] {
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  return records.filter((line) => line["trace"] === trace).map(kindOf);
}

test("every line from the delivery to the reply has one id, also of the next process", async () => {
  const world = new TracedWorld();
  const store = sqlite();
  const traces: unknown[] = [];
  const run = (fails: boolean) =>
    world.startBot(
      (bot) =>
        bot.on("dm.message", async (ctx) => {
          traces.push(ctx.trace);
          ctx.log.info("at work");
          await ctx.client.me();
          if (fails) throw new Error("a mistake");
          await ctx.reply("hi");
        }),
      store,
    );
  const first = await run(true);
  await world.deliver(first, [world.write("c_1", "hello")]);
  await first.stop();
  const second = await run(false);
  await world.clock.advance(1_000);
  await second.idle();
  const { trace } = await second.inbox.show("evt_0001");
  expect(linesOf(world.log.records, trace)).toEqual([
    "delivery",
    ...["handler", "request", "retry"],
    // Before the first reply, the bot asks the platform for the time.
    ...["handler", "request", "request", "request", "step", "handled"],
  ]);
  expect(traces).toEqual([trace, trace]);
  // The log line about the reply names its event and step.
  expect(world.log.records.find((line) => kindOf(line) === "step")).toMatchObject({
    ...{ level: "debug", trace, event: "evt_0001", step: "reply/1", outcome: "made" },
    ref: expect.any(String),
  });
  // Every line about the event has its trace.
  const about = world.log.records.filter((line) => line["event"] === "evt_0001");
  expect(about.length).toBeGreaterThan(7);
  for (const line of about) expect(line).toMatchObject({ trace });
});

test("a run that is postponed for the platform logs the trace of its event", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot(
    (bot) => bot.on("dm.message", async (ctx) => void (await ctx.client.me())),
    { requestRetries: 0 },
  );
  world.platform.refuse({ code: "X", status: 503, method: "GET", times: Infinity });
  for (let n = 0; n < 30; n++) await world.deliver(bot, [world.write(`c_${n}`, "hi")]);
  const line = world.log.records.find(
    (line) => kindOf(line) === "retry" && line["operation"] !== undefined,
  );
  const { trace } = await bot.inbox.show(String(line?.["event"]));
  expect(line).toMatchObject({ level: "warn", trace });
});

test("a dead letter has the id, and so has what could not be handled at the door", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot(
    (bot) =>
      bot.on("dm.message", () => {
        throw new Error("a mistake");
      }),
    { maxAttempts: 1 },
  );
  await world.deliver(bot, [world.write("c_1", "hello")]);
  const { trace } = await bot.inbox.show("evt_0001");
  expect(linesOf(world.log.records, trace)).toEqual(["delivery", "dead letter"]);
  await world.deliver(bot, [{ id: "bad", type: "dm.message", payload: {} }]);
  const bad = await bot.inbox.show("bad");
  expect(linesOf(world.log.records, bad.trace)).toEqual(["delivery"]);
  expect(world.log.records.at(-1)).toMatchObject({ level: "error", unusable: 1 });
});

test("events of one delivery share the id, of two they do not; a repeat leaves it as it was", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined));
  const events = [
    world.write("c_1", "one"),
    world.write("c_2", "two"),
    world.write("c_1", "three"),
  ];
  const trace = async (id: string) => (await bot.inbox.show(id)).trace;
  await world.deliver(bot, events.slice(0, 2));
  const before = await trace("evt_0001");
  await world.deliver(bot, events);
  expect(await trace("evt_0001")).toBe(before);
  expect(await trace("evt_0002")).toBe(before);
  expect(await trace("evt_0003")).not.toBe(before);
  expect(linesOf(world.log.records, before)).toEqual(["delivery", "handled", "handled"]);
  expect(linesOf(world.log.records, await trace("evt_0003"))).toEqual(["delivery", "handled"]);
});

test("a log page with new events has its own id", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined), {
    ...{ delivery: "polling", startFrom: "oldest" },
  });
  world.write("c_1", "hello");
  while ((await bot.inbox.stats()).done === 0) await world.clock.advance(4_000);
  const { trace } = await bot.inbox.show("evt_0001");
  expect(linesOf(world.log.records, trace)).toEqual(["page", "handled"]);
  const line = world.log.records.find((line) => kindOf(line) === "page");
  expect(line).toMatchObject({ level: "info", events: 1, stored: 1, duplicates: 0, unusable: 0 });
});
