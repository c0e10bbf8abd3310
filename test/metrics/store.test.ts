import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Inbox } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { channels, Metrics } from "../faces/observe.ts";
import { ManualClock } from "../faces/testing.ts";
import { gaugeSources } from "../observe/gauge-sources.ts";
import { listenTo } from "../support/channels.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readScrape, valuesOf } from "./scrape.ts";
import { dm, scrape, value, World } from "./world.ts";

const event = (id: string) => ({ id, type: "dm.message", lane: id, ord: id, body: "{}" });

describe("an inbox in a file", () => {
  test("reports its size, the free space, and the time of a commit", async () => {
    const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
    const world = new World();
    const bot = await world.start({ databaseUrl, minFreeBytes: 1_000 });
    await world.deliver(bot, [dm("1")]);
    expect(await value(bot, "service_bot_store_size_bytes", { file: "wal" })).toBeGreaterThan(0);
    expect(await value(bot, "service_bot_store_size_bytes", { file: "database" })).toBeGreaterThan(
      0,
    );
    expect(await value(bot, "service_bot_store_disk_free_bytes")).toBeGreaterThan(1_000);
    expect(await value(bot, "service_bot_store_disk_min_free_bytes")).toBe(1_000);
    const seconds = "service_bot_store_transaction_duration_seconds";
    expect(await value(bot, `${seconds}_count`)).toBeGreaterThan(0);
    expect(await value(bot, `${seconds}_sum`)).toBeGreaterThan(0);
    expect(await value(bot, "service_bot_instances")).toBe(1);
  });

  test("with little free space refuses, and that is counted", async () => {
    const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
    const world = new World();
    const minFreeBytes = Number.MAX_SAFE_INTEGER;
    const bot = await world.start({ databaseUrl, minFreeBytes, delivery: "webhook" });
    expect(await world.deliver(bot, [dm("1")])).toBe(503);
    const failures = "service_bot_store_failures_total";
    expect(await value(bot, failures, { reason: "disk_low" })).toBe(1);
    expect(await value(bot, failures, { reason: "disk_full" })).toBe(0);
    const refused = { status: "503", code: "STORE_UNAVAILABLE" };
    expect(await value(bot, "service_bot_deliveries_total", refused)).toBe(1);
  });

  test("whose file is removed refuses deliveries, is not ready, and names the file", async () => {
    const file = join(temporaryFolder(), "bot.db");
    const world = new World();
    const bot = await world.start({ databaseUrl: `file:${file}`, delivery: "webhook" });
    const lost = "service_bot_store_file_lost";
    expect(await value(bot, lost)).toBe(0);
    rmSync(file);
    expect(await world.deliver(bot, [dm("1")])).toBe(503);
    const { status } = await bot.handle(new Request("http://bot.test/readyz"));
    expect(status).toBe(503);
    expect(await bot.status()).toMatchObject({
      ready: false,
      inboxProblem: expect.stringContaining(file),
    });
    expect(await value(bot, lost)).toBe(1);
    expect(await value(bot, "service_bot_ready")).toBe(0);
    const failures = { reason: "file_lost" };
    expect(await value(bot, "service_bot_store_failures_total", failures)).toBeGreaterThan(0);
  });

  test("in memory has no size", async () => {
    const names = [...(await scrape(await new World().start())).keys()];
    expect(
      names.filter((name) => /size_bytes|free_bytes/.test(name) && /^service/.test(name)),
    ).toEqual([]);
  });

  test("that another process writes to is locked", async () => {
    const file = join(temporaryFolder(), "bot.db");
    const failures: string[] = [];
    const bot = {};
    listenTo(bot, { "store-failure": ({ reason }) => void failures.push(reason) });
    const inbox = new SqliteInbox({ file, bot });
    onTestFinished(() => inbox.close());
    const { default: Sqlite } = await import("better-sqlite3");
    const other = new Sqlite(file);
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    await expect(inbox.put([event("1")], "webhook")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect(failures).toEqual(["locked"]);
    other.exec("ROLLBACK");
    await inbox.put([event("1")], "webhook");
    expect(failures).toEqual(["locked"]);
    expect(await inbox.measure()).toMatchObject({ pending: 1, dead: 0 });
  });
});

test("a message that cannot be counted harms no publisher", () => {
  const bot = {};
  const metrics = new Metrics(bot, false);
  onTestFinished(() => metrics.close());
  expect(() => channels.batch.publish({ bot } as never)).not.toThrow();
});

function metricsOf(inbox: Pick<Inbox, "measure" | "shared">): Metrics {
  const metrics = new Metrics({}, false);
  onTestFinished(() => metrics.close());
  const clock = new ManualClock(1_800_000_000_000);
  const platformNow = () => clock.now() - 5_000;
  metrics.watch(
    gaugeSources(inbox, {
      ...{ clock, wall: clock, dispatcher: { running: 3 } },
      inbox: { problem: undefined, ...inbox, capabilities: { guardsDisk: true } },
      client: { requests: undefined, circuits: [], platformNow },
    }),
  );
  return metrics;
}

describe("a store that does not answer", () => {
  const silent = { shared: undefined, measure: () => new Promise<never>(() => undefined) };

  test("is reported, and other values stay available", async () => {
    const metrics = metricsOf(silent);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const scraping = metrics.text();
    await vi.advanceTimersByTimeAsync(5_000);
    const told = readScrape(await scraping);
    const one = (name: string) => valuesOf(told, `service_bot_${name}`);
    expect(one("store_up")).toEqual([0]);
    expect(one("ready")).toEqual([0]);
    for (const name of ["events_pending", "oldest_pending_age_seconds", "dead_letters"]) {
      expect(one(name), name).toEqual([Number.NaN]);
    }
    expect(one("store_disk_free_bytes")).toEqual([Number.NaN]);
    expect(one("handlers_running")).toEqual([3]);
    expect(one("clock_skew_seconds")).toEqual([5]);
  });

  test("has one query at a time, for any number of scrapes", async () => {
    let asked = 0;
    const answer = Promise.withResolvers<never>();
    const measure = () => {
      asked += 1;
      return answer.promise;
    };
    const metrics = metricsOf({ shared: undefined, measure });
    const both = Promise.all([metrics.text(), metrics.text()]);
    answer.reject(new Error("away"));
    const [one, two] = await both;
    expect(one).toContain("service_bot_store_up 0");
    expect(two).toContain("service_bot_store_up 0");
    expect(asked).toBe(1);
    await metrics.text();
    expect(asked).toBe(2);
  });
});
