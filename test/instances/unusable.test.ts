import { describe, expect, onTestFinished, test } from "vitest";
import { Bot, type BotOptions } from "../../src/index.ts";
import { Membership } from "../../src/instances/membership.ts";
import { ManualClock } from "../../src/testing/manual-clock.ts";
import { logSink } from "../support/log.ts";
import { hold } from "../support/postgres/hold.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../support/postgres/open.ts";

function make({ url, schema }: Place, options: BotOptions = {}): Bot {
  return new Bot({
    env: { DATABASE_URL: url, DATABASE_SCHEMA: schema },
    ...{ baseUrl: "http://platform.test", apiKey: "for-tests-only", delivery: "webhook" },
    ...{ webhookSecret: "whsec_of_this_test", logger: logSink().log, port: 0 },
    ...options,
  });
}

/** A bot that works, on a clock of its own. */
async function running() {
  const place = await emptyPlace();
  const clock = new ManualClock(1_800_000_000_000);
  const sink = logSink();
  const bot = make(place, { logger: sink.log, clock });
  await bot.start({ listen: false });
  onTestFinished(() => bot.stop());
  const ready = async () => (await bot.status()).ready;
  return { place, clock, sink, bot, ready };
}

const migrated = (place: Place, readableFrom: number) =>
  look(place, `INSERT INTO ${place.schema}.migration (version, readable_from) VALUES (999, $1)`, [
    readableFrom,
  ]);

const mark = (place: Place) =>
  look(
    place,
    `CREATE TABLE ${place.schema}.copy_mark AS SELECT 'source' AS role, 'elsewhere' AS other, '1' AS run`,
  );

const instances = (place: Place) => look(place, `SELECT id FROM ${place.schema}.instance`);

describe("a bot that runs", () => {
  test("stops, and says why, once a newer version has changed its inbox beyond it", async () => {
    const { place, clock, sink, bot, ready } = await running();
    await migrated(place, 999);
    expect(await ready()).toBe(true);
    expect(await instances(place)).toHaveLength(1);
    while (await ready()) await clock.advance(1_000);
    await bot.stop();
    expect(await instances(place)).toEqual([]);
    const said = sink.records.find(({ level }) => level === "error");
    expect(said).toMatchObject({ err: { message: expect.stringContaining("Update service-bot") } });
  });

  test("goes on beside a newer version that has only added to it", async () => {
    const { place, clock, ready } = await running();
    await migrated(place, 1);
    for (let seconds = 0; seconds < 20; seconds++) {
      await clock.advance(1_000);
      expect(await ready()).toBe(true);
    }
  });

  test("stops where a copy has taken the place of its inbox while nothing was heard of it", async () => {
    const { place, clock, sink, ready } = await running();
    await mark(place);
    while (await ready()) await clock.advance(1_000);
    expect(sink.text()).toContain("was copied to elsewhere");
  });
});

describe("a bot that starts", () => {
  test("ends where a copy has begun since it opened the inbox, and takes nothing before", async () => {
    const place = await emptyPlace();
    await (await openAt(place)).close();
    const free = await hold(place, `LOCK TABLE ${place.schema}.instance IN EXCLUSIVE MODE`);
    const bot = make(place);
    const starting = bot.start({ standalone: false });
    const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${place.schema}.instance'::regclass`;
    while ((await look(place, waits)).length === 0);
    expect(bot.url).toBeUndefined();
    expect(() => bot.inbox).toThrow(expect.objectContaining({ code: "NOT_STARTED" }));
    await mark(place);
    await free(0);
    await expect(starting).rejects.toMatchObject({ code: "INBOX_MOVED" });
    expect(await instances(place)).toEqual([]);
    await bot.stop();
  });

  test("looks whether it may use the inbox once others can see it, not before", async () => {
    const calls: string[] = [];
    const call = (name: string) => async () => void calls.push(name);
    const membership = new Membership({
      shared: {
        beat: async () => calls.push("beat"),
        ...{ requireUsable: call("requireUsable"), leave: call("leave") },
      },
      ...{ clock: new ManualClock(0), log: logSink().log, lastDeliveryAt: () => undefined },
      details: { host: "h", pid: 1, version: "1.0.0" },
    });
    await membership.start(() => undefined);
    await membership.stop();
    expect(calls).toEqual(["beat", "requireUsable", "leave"]);
  });
});
