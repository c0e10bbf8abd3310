import { expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { CronPattern } from "../faces/core.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { type CronJob, Crons, DueMoments, Schedule } from "../faces/schedule.ts";
import { ManualClock } from "../faces/testing.ts";
import { effects, timer } from "../support/effects.ts";
import { message } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";
import { World } from "../support/world/world.ts";

const START = Date.parse("2026-11-23T08:59:57.400Z");

async function running(pattern = "0 9 * * *") {
  const clock = new ManualClock(START);
  const inbox = new SqliteInbox({ file: ":memory:", clock });
  const moments = new CronPattern(pattern, "UTC");
  const job: CronJob = { name: "daily", pattern, timeZone: "UTC", missed: "last", moments };
  const crons = new Crons({ inbox, wall: clock, routes: { crons: [job] } });
  const schedule = new DueMoments({ clock, wall: clock, inbox, log: logSink().log, crons: [job] });
  await schedule.start();
  const stored = async () => {
    const { events } = await inbox.admin.list({ limit: 1_000 });
    return events.map(({ id }) => id).sort();
  };
  return { clock, inbox, crons, schedule, stored };
}

test("a cron that is fired runs now, and its next moment stays", async () => {
  const { clock, inbox, crons, stored } = await running();
  const position = await inbox.cursor("cron:daily");
  expect(await crons.list()).toMatchObject([
    { name: "daily", nextAt: Date.parse("2026-11-23T09:00:00Z"), last: undefined },
  ]);
  expect(await crons.fire("daily")).toBe("cron:daily:2026-11-23T08:59:57Z");
  expect(await crons.fire("none")).toBeUndefined();
  expect(await inbox.cursor("cron:daily")).toBe(position);
  const [claim] = await inbox.claim(1, 30_000);
  expect(claim).toMatchObject({ type: "cron:daily", lane: "cron:daily", late: false });
  expect(JSON.parse(claim?.body ?? "").payload).toEqual({
    name: "daily",
    dueAt: "2026-11-23T08:59:57.000Z",
  });
  expect(await crons.list()).toMatchObject([
    { last: { id: "cron:daily:2026-11-23T08:59:57Z", state: "pending", receivedAt: START } },
  ]);
  await clock.advance(2_600);
  expect(await stored()).toEqual([
    "cron:daily:2026-11-23T08:59:57Z",
    "cron:daily:2026-11-23T09:00:00Z",
  ]);
  expect(await crons.list()).toMatchObject([
    {
      nextAt: Date.parse("2026-11-24T09:00:00Z"),
      last: { id: "cron:daily:2026-11-23T09:00:00Z" },
    },
  ]);
});

test("a cron that is fired in the second of a moment is that moment, before and after it", async () => {
  const { clock, crons, schedule, stored } = await running();
  await schedule.stop();
  await clock.advance(2_700);
  await crons.fire("daily");
  await crons.fire("daily");
  expect(await stored()).toEqual(["cron:daily:2026-11-23T09:00:00Z"]);
  const again = await running("* * * * * *");
  await again.clock.advance(600);
  await again.crons.fire("daily");
  expect(await again.stored()).toEqual(["cron:daily:2026-11-23T08:59:58Z"]);
});

test("a moment that was fired by hand is not the last one that an outage missed", async () => {
  const { clock, crons, schedule, inbox, stored } = await running();
  await crons.fire("daily");
  await schedule.stop();
  await clock.advance(3_600_000);
  await crons.fire("daily");
  const moments = new CronPattern("0 9 * * *", "UTC");
  const job = { name: "daily", pattern: "0 9 * * *", timeZone: "UTC", moments } as const;
  const log = logSink().log;
  const next = { clock, wall: clock, inbox, log, crons: [{ ...job, missed: "last" }] } as const;
  await new DueMoments(next).start();
  expect(await stored()).toEqual([
    "cron:daily:2026-11-23T08:59:57Z",
    "cron:daily:2026-11-23T09:00:00Z",
    "cron:daily:2026-11-23T09:59:57Z",
  ]);
});

test("timers that the schedule fires are events once it says so", async () => {
  const clock = new ManualClock(START);
  const inbox = new SqliteInbox({ file: ":memory:", clock });
  await inbox.put([message("1", "c1")], "webhook");
  const [claim] = await inbox.claim(1, 30_000);
  if (claim === undefined) throw new Error("The event is not claimed");
  await inbox.complete(claim, effects({ timers: [timer("a", 3_600_000)] }));
  const routes = { crons: [], handlesTimers: true };
  const schedule = new Schedule({ clock, wall: clock, inbox, log: logSink().log, routes });
  await schedule.start();
  onTestFinished(() => schedule.stop());
  expect(await schedule.fireTimers({ lane: "dm:c1", name: "none" })).toBe(0);
  expect(await schedule.fireTimers({ lane: "dm:c1", name: "remind" })).toBe(1);
  const { timers } = await inbox.admin.timers();
  expect(timers).toEqual([]);
  expect(await inbox.admin.show("timer:remind:a")).toMatchObject({ state: "pending" });
});

test("a timer that is made due is fired at once, with its key and data, and once", async () => {
  const world = new World();
  const register = (bot: Bot) => {
    bot.on("dm.message", (ctx) => ctx.later("echo", "1h", "tea", { key: "k" }).then(() => {}));
    bot.onTimer("echo", (ctx) => ctx.reply(`${ctx.payload.key} ${ctx.payload.data}`));
  };
  const bot = await world.startBot(register);
  await world.deliver(bot, world.write("ada", "hi"));
  await world.settle(bot);
  const [timer] = (await bot.inbox.timers()).timers;
  expect(timer).toMatchObject({ lane: "dm:ada", name: "echo", key: "k" });
  expect(await bot.inbox.makeTimersDue({ lane: "dm:ada", name: "echo" })).toBe(1);
  await world.settle(bot);
  expect(world.sentTo("ada")).toEqual(["k tea"]);
  await world.clock.advance(2 * 3_600_000);
  await world.settle(bot);
  expect(world.sentTo("ada")).toEqual(["k tea"]);
});
