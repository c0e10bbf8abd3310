import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Bot, BotOptions } from "../../src/index.ts";
import { RESTORED, type RestoreMark, readRestoreMark, writeRestoreMark } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { messages } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LogWorld } from "../support/world/log-world.ts";
import { sqlite } from "../support/world/stores.ts";

const START = 1_800_000_000_000;
const HOUR = 3_600_000;

let file: string;
let world: LogWorld;
let handled: string[];

beforeEach(() => {
  file = join(temporaryFolder(), "bot.db");
  world = new LogWorld({ store: sqlite(file), bots: { random: () => 0, requestRetries: 2 } });
  handled = [];
});

async function restored(mark: Partial<RestoreMark> = {}, ...ids: readonly string[]): Promise<void> {
  const inbox = new SqliteInbox({ file, clock: world.clock });
  const position = writeRestoreMark({ at: START, ...mark });
  const cursors = [
    { name: "events", position: "0" },
    { name: RESTORED, position },
  ];
  await inbox.put(messages(...ids), "poll", cursors);
  await inbox.close();
}

async function marked(): Promise<RestoreMark | undefined> {
  const inbox = new SqliteInbox({ file, clock: world.clock });
  const position = await inbox.cursor(RESTORED);
  await inbox.close();
  return readRestoreMark(position);
}

/** Starts a bot whose handler has a custom step. A custom step in doubt is parked as a dead letter. */
const start = (options: BotOptions = {}): Promise<Bot> =>
  world.startBot((bot) => {
    bot.on("dm.message", async (ctx) => {
      handled.push(ctx.event.id);
      await ctx.step("count", () => 1);
    });
  }, options);

/** Runs everything that is due within the next `ms`. */
async function pass(ms = 2_000): Promise<void> {
  for (let left = ms; left > 0; left -= 200) {
    await world.clock.advance(200);
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  }
}

/** Returns the log lines about the restore itself. */
const restoreLines = () => world.log.records.filter(({ restoredAt }) => restoredAt !== undefined);

/** Returns the warnings without an error, which describe the restore's consequences for this bot. */
const consequences = () =>
  world.log.records.filter(
    ({ level, ...fields }) =>
      level === "warn" && ["restoredAt", "err", "platform"].every((name) => !(name in fields)),
  );

test("logs that the inbox was restored, and its status says when the log was read", async () => {
  await restored();
  await world.clock.advance(HOUR);
  const bot = await start();
  expect(restoreLines()).toMatchObject([
    { level: "warn", restoredAt: new Date(START).toISOString() },
  ]);
  expect((await bot.status()).restored).toMatchObject({ at: START, readAt: undefined });
  await pass();
  const { restored: status } = await bot.status();
  expect(status?.readAt).toBeGreaterThan(START + HOUR);
  await bot.stop();
  const again = await start();
  await pass();
  expect(restoreLines()).toHaveLength(1);
  expect((await again.status()).restored).toEqual(status);
});

test("an inbox that was never restored has nothing of it in the status, nor in the log", async () => {
  const bot = await start();
  await pass();
  expect((await bot.status()).restored).toBeUndefined();
  expect(restoreLines()).toEqual([]);
});

describe("an event", () => {
  test("from before the first start is in doubt, and one from after it is not", async () => {
    await restored();
    world.events.add("1", "dm.message", START - HOUR);
    const bot = await start();
    await pass(10_000);
    world.events.add("2");
    await pass(90_000);
    expect(handled).toEqual(["1", "2"]);
    expect((await bot.inbox.show("1")).error).toMatch(/STEP_UNCERTAIN|restored from a backup/);
    expect(await bot.inbox.show("2")).toMatchObject({ state: "done" });
    expect(await bot.inbox.stats()).toMatchObject({ dead: 1, done: 1 });
  });

  test("that was made while no bot ran is not in doubt where its end was given", async () => {
    await restored({ until: START - HOUR });
    world.events.add("1", "dm.message", START - HOUR / 2);
    const bot = await start();
    await pass();
    expect(await bot.inbox.show("1")).toMatchObject({ state: "done" });
  });

  test("without a date is in doubt until the log was read, and some time for the clocks", async () => {
    await restored();
    const bot = await start();
    world.events.add("1");
    world.events.entries = world.events.entries.map((entry) => ({ ...entry, createdAt: "" }));
    await pass(70_000);
    expect(await bot.inbox.show("1")).toMatchObject({ state: "dead" });
    await pass(300_000);
    world.events.add("2");
    world.events.entries = world.events.entries.map((entry) => ({ ...entry, createdAt: "" }));
    await pass(130_000);
    expect(await bot.inbox.show("2")).toMatchObject({ state: "done" });
  });

  test("is in doubt by the mark of an earlier version, which has fields of its own", async () => {
    const before: object = { overAt: START, assumeAbsent: true };
    await restored({ until: START, readAt: START, ...before }, "9");
    world.events.add("1", "dm.message", START - HOUR);
    world.events.add("2", "dm.message", START + HOUR);
    const bot = await start();
    await pass();
    expect(restoreLines()).toEqual([]);
    expect(await bot.inbox.show("1")).toMatchObject({ state: "dead" });
    expect(await bot.inbox.show("2")).toMatchObject({ state: "done" });
  });

  test("stays in doubt over a restart: when the first bot began is remembered", async () => {
    await restored();
    const bot = await start();
    await pass();
    await bot.stop();
    const { until } = (await marked()) ?? {};
    expect(until).toBeGreaterThanOrEqual(START - 1_000);
    await world.clock.advance(HOUR);
    const again = await start();
    await pass();
    await again.stop();
    expect(await marked()).toMatchObject({ until });
  });
});

describe("what the log brings after a restore", () => {
  test("proves nothing about the webhook, because acknowledged events are not delivered again", async () => {
    await restored();
    for (const id of ["1", "2", "3"]) world.events.add(id, "dm.message", START - HOUR);
    const bot = await start();
    await pass(120_000);
    expect(handled).toEqual(["1", "2", "3"]);
    expect((await bot.status()).mode).toBe("auditing");
  });

  test("says it again once the log was read to its end", async () => {
    await restored();
    const bot = await start();
    await pass();
    world.events.add("1");
    await pass(120_000);
    expect((await bot.status()).mode).toBe("polling");
  });

  test("says it after a restart, too", async () => {
    await restored();
    const bot = await start();
    await pass();
    await bot.stop();
    await world.clock.advance(HOUR);
    world.events.add("1", "dm.message", world.clock.now() - HOUR / 2);
    const again = await start();
    await pass();
    expect((await again.status()).mode).toBe("polling");
  });
});

test("without a poller the log counts as read, and the next start logs no restore", async () => {
  await restored({}, "9");
  const bot = await start({ delivery: "webhook" });
  await pass(10_000);
  expect(handled).toEqual(["9"]);
  await bot.stop();
  expect(await marked()).toMatchObject({ readAt: START, until: expect.any(Number) });
  await start({ delivery: "webhook" });
  await pass();
  expect(restoreLines()).toHaveLength(1);
});

describe("handlers", () => {
  test("begin when the log was read to its end, so that what came back has its place before them", async () => {
    await restored({}, "9");
    for (const id of ["1", "2"]) world.events.add(id, "dm.message", START - HOUR);
    world.answer = () => Response.json({}, { status: 503 });
    await start();
    await pass(10_000);
    expect(handled).toEqual([]);
    world.answer = undefined;
    await pass(60_000);
    expect(handled).toEqual(["1", "2", "9"]);
  });

  test("begin after a minute where it cannot be read, with a warning", async () => {
    await restored({}, "9");
    world.answer = () => Response.json({}, { status: 403 });
    await start();
    await pass(59_000);
    expect(handled).toEqual([]);
    await pass(5_000);
    expect(handled).toEqual(["9"]);
    expect(consequences()).toHaveLength(1);
  });

  test("do not wait for a log that is never read, with a warning", async () => {
    await restored({}, "9");
    await start({ delivery: "webhook" });
    await pass();
    expect(handled).toEqual(["9"]);
    expect(consequences()).toHaveLength(1);
  });

  test("do not begin in a bot that is stopped before", async () => {
    await restored();
    world.answer = () => Response.json({}, { status: 503 });
    const bot = await start();
    await pass(1_000);
    await bot.stop();
    await pass(61_000);
    expect(handled).toEqual([]);
  });
});
