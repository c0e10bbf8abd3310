import { describe, expect, onTestFinished, test } from "vitest";
import { CronPattern } from "../faces/core.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { type CronJob, DueMoments, type DueMomentsOptions } from "../faces/schedule.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";

const START = Date.parse("2026-11-23T08:59:30Z");

function cron(name: string, pattern: string, more: Partial<CronJob> = {}): CronJob {
  const timeZone = more.timeZone ?? "UTC";
  const moments = new CronPattern(pattern, timeZone);
  return { name, pattern, timeZone, missed: "last", moments, ...more };
}

class Instances {
  readonly clock: ManualClock = new ManualClock(START);
  readonly inbox: SqliteInbox = new SqliteInbox({ file: ":memory:", clock: this.clock });
  readonly log: ReturnType<typeof logSink> = logSink();

  constructor() {
    onTestFinished(() => this.inbox.close());
  }

  async start(
    crons: readonly CronJob[],
    more: Partial<DueMomentsOptions> = {},
  ): Promise<DueMoments> {
    const { clock, inbox, log } = this;
    const moments = new DueMoments({ clock, wall: clock, inbox, log: log.log, crons, ...more });
    void moments.start();
    await clock.advance(0);
    return moments;
  }

  /** Returns the ticks that have a pending event. */
  async moments(): Promise<string[]> {
    const { events } = await this.inbox.admin.list({ state: "pending", limit: 1_000 });
    return events.map(({ id }) => id.replace(/^cron:/, "")).sort();
  }
}

const daily = cron("daily", "0 9 * * *");

describe("a moment", () => {
  test("has a stored position once the schedule has started, so that a kill after it is an outage", async () => {
    const world = new Instances();
    const { clock, inbox, log } = world;
    const moments = new DueMoments({ clock, wall: clock, inbox, log: log.log, crons: [daily] });
    await moments.start();
    expect(await inbox.cursor("cron:daily")).toBeDefined();
    await moments.stop();
  });

  test("becomes an event when it is due, and not before", async () => {
    const world = new Instances();
    await world.start([daily]);
    await world.clock.advance(29_999);
    expect(await world.moments()).toEqual([]);
    await world.clock.advance(1);
    expect(await world.moments()).toEqual(["daily:2026-11-23T09:00:00Z"]);
    const [event] = await world.inbox.claim(1, 30_000);
    expect(event).toMatchObject({ type: "cron:daily", lane: "cron:daily", late: false });
    expect(event?.trace).toMatch(/^[0-9a-f]{32}/);
  });

  test("a cron tick is one event across two instances and a restart", async () => {
    const world = new Instances();
    const crons = [cron("often", "*/10 * * * * *"), cron("minutely", "* * * * *")];
    const first = await world.start(crons);
    await world.start(crons);
    await world.clock.advance(25_000);
    await first.stop();
    await world.start(crons);
    await world.clock.advance(15_000);
    expect(await world.moments()).toEqual([
      "minutely:2026-11-23T09:00:00Z",
      "often:2026-11-23T08:59:40Z",
      "often:2026-11-23T08:59:50Z",
      "often:2026-11-23T09:00:00Z",
      "often:2026-11-23T09:00:10Z",
    ]);
  });

  test("is not lost when a process ends between the moment and its event", async () => {
    const world = new Instances();
    const dead = await world.start([daily], {
      inbox: {
        cursor: (name) => world.inbox.cursor(name),
        put: () => new Promise(() => undefined),
      },
    });
    void dead;
    await world.start([daily]);
    await world.clock.advance(30_000);
    expect(await world.moments()).toEqual(["daily:2026-11-23T09:00:00Z"]);
  });

  test("is stored when the store is back, each one", async () => {
    const world = new Instances();
    let isAway = false;
    const often = cron("often", "*/10 * * * * *");
    const put: SqliteInbox["put"] = (...given) =>
      isAway ? Promise.reject(new Error("away")) : world.inbox.put(...given);
    await world.start([often], { inbox: { cursor: (name) => world.inbox.cursor(name), put } });
    isAway = true;
    await world.clock.advance(35_000);
    isAway = false;
    await world.clock.advance(2_000);
    expect(await world.moments()).toHaveLength(3);
    const lines = world.log.records.filter(({ msg }) => /could not store/.test(String(msg)));
    expect(lines.map(({ level }) => level).filter((level) => level === "error")).toHaveLength(1);
  });
});

describe("moments that came while the bot was down", () => {
  const hourly = (missed: "last" | "none") => cron("hourly", "0 * * * *", { missed });

  async function downFor(ms: number, before: CronJob, after: CronJob): Promise<Instances> {
    const world = new Instances();
    const first = await world.start([before]);
    await first.stop();
    await world.clock.advance(ms);
    await world.start([after]);
    return world;
  }

  test.each([30_000, 31_000, 3 * 3_600_000 + 30_000])(
    "of %i ms: the last one by default",
    async (ms) => {
      const world = await downFor(ms, hourly("last"), hourly("last"));
      const hour = ms > 60_000 ? "12" : "09";
      expect(await world.moments()).toEqual([`hourly:2026-11-23T${hour}:00:00Z`]);
      expect(world.log.records).toMatchObject([
        { level: "info", cron: "hourly", dueAt: `2026-11-23T${hour}:00:00.000Z`, missed: "last" },
      ]);
    },
  );

  test("are passed over with none, and the next one is not", async () => {
    const world = await downFor(3 * 3_600_000 + 30_000, hourly("none"), hourly("none"));
    expect(await world.moments()).toEqual([]);
    await world.clock.advance(3_600_000);
    expect(await world.moments()).toEqual(["hourly:2026-11-23T13:00:00Z"]);
  });

  test("and none of them missed: nothing", async () => {
    const world = await downFor(20_000, hourly("last"), hourly("last"));
    expect(await world.moments()).toEqual([]);
    expect(world.log.records).toEqual([]);
  });

  test("are made up for once, also by two instances and after another restart", async () => {
    const world = await downFor(60_000, hourly("last"), hourly("last"));
    await (await world.start([hourly("last")])).stop();
    await world.start([hourly("last")]);
    expect(await world.moments()).toEqual(["hourly:2026-11-23T09:00:00Z"]);
  });

  test("of a pattern or a time zone that was changed were not missed", async () => {
    const changed = [
      cron("hourly", "0 9 * * *"),
      cron("hourly", "0 * * * *", { timeZone: "Europe/Paris" }),
    ];
    for (const after of changed) {
      expect(await (await downFor(60_000, hourly("last"), after)).moments()).toEqual([]);
    }
  });

  test("of a name that is new were not missed", async () => {
    const world = new Instances();
    await world.clock.advance(3_600_000);
    await world.start([hourly("last")]);
    expect(await world.moments()).toEqual([]);
  });

  test("count from the last moment, even if no moment came during the whole run before", async () => {
    const world = new Instances();
    const yearly = cron("yearly", "0 9 23 11 *");
    await (await world.start([yearly])).stop();
    await world.clock.advance(3 * 86_400_000);
    await world.start([yearly]);
    expect(await world.moments()).toEqual(["yearly:2026-11-23T09:00:00Z"]);
  });
});

describe("the time of day", () => {
  test("of a machine that slept for hours: the last moment, as after a start", async () => {
    const world = new Instances();
    const wall = { now: () => world.clock.now() + ahead };
    let ahead = 0;
    await world.start([cron("hourly", "0 * * * *")], { wall });
    ahead = 5 * 3_600_000;
    // The timer set by the first check fires in an hour. An earlier check notices that the clock changed.
    await world.clock.advance(15_000);
    expect(await world.moments()).toEqual(["hourly:2026-11-23T13:00:00Z"]);
  });

  test("that is set back makes no second event, and the next moment comes", async () => {
    const world = new Instances();
    const wall = { now: () => world.clock.now() + ahead };
    let ahead = 0;
    await world.start([cron("minutely", "* * * * *")], { wall });
    await world.clock.advance(60_000);
    ahead = -600_000;
    await world.clock.advance(13 * 60_000);
    const moments = await world.moments();
    expect(moments[0]).toBe("minutely:2026-11-23T08:52:00Z");
    expect(moments.at(-1)).toBe("minutely:2026-11-23T09:03:00Z");
    expect(new Set(moments).size).toBe(moments.length);
  });
});

test("a stop ends after the look that is under way, and stores nothing further", async () => {
  const world = new Instances();
  const moments = await world.start([daily]);
  await moments.stop();
  await world.clock.advance(60_000);
  expect(await world.moments()).toEqual([]);
  await moments.settled();
});
