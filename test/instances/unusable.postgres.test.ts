import { describe, expect, onTestFinished, test } from "vitest";
import { type Bot, type BotOptions, ServiceBotError } from "../../src/index.ts";
import { gate } from "../dispatcher/harness.ts";
import { Membership, type MembershipOptions } from "../faces/bot.ts";
import { sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { messages } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";
import { hold } from "../support/postgres/hold.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../support/postgres/open.ts";
import { SECRET } from "../support/world/in-process.ts";
import { LogWorld } from "../support/world/log-world.ts";
import { postgres } from "../support/world/stores.ts";

const worldAt = (place: Place) =>
  new LogWorld({ store: postgres(place), bots: { delivery: "webhook", port: 0 } });

async function running(
  prepare: (bot: Bot) => unknown = () => undefined,
  { listen = false, ...options }: BotOptions & { readonly listen?: boolean } = {},
) {
  const place = await emptyPlace();
  const world = worldAt(place);
  const bot = world.createBot(options);
  prepare(bot);
  await bot.start({ listen, standalone: false });
  onTestFinished(() => bot.stop());
  const ready = async () => (await bot.status()).ready;
  return { place, world, clock: world.clock, sink: world.log, bot, ready };
}

/** Starts a bot whose first handler ignores its abort signal and runs until `end`. */
async function atWork() {
  const work = gate();
  const signals: AbortSignal[] = [];
  const scene = await running((bot) =>
    bot.on("dm.message", async ({ signal }) => {
      signals.push(signal);
      await work.pass();
    }),
  );
  const { bot, world, place } = scene;
  const deliver = (...ids: string[]) => {
    const body = JSON.stringify({
      events: messages(...ids).map((event) => JSON.parse(event.body)),
    });
    const signature = sign(body, SECRET, world.clock.now() / 1000);
    return world.post(bot, body, { "x-service-signature": signature });
  };
  expect((await deliver("1", "2")).status).toBe(200);
  await work.entered;
  const states = async () =>
    (
      await look<{ state: string }>(place, `SELECT state FROM ${place.schema}.event ORDER BY id`)
    ).map(({ state }) => state);
  return { ...scene, deliver, signals, states, end: work.open };
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

const errorsIn = ({ records }: Pick<ReturnType<typeof logSink>, "records">) =>
  records.filter(({ level }) => level === "error");

const instances = (place: Place) => look(place, `SELECT id FROM ${place.schema}.instance`);

function member(shared: Partial<MembershipOptions["shared"]> = {}) {
  const calls: string[] = [];
  const clock = new ManualClock(0);
  const call = (name: string) => async () => void calls.push(name);
  const membership = new Membership({
    shared: {
      beat: async () => calls.push("beat"),
      ...{ requireUsable: call("requireUsable"), leave: call("leave") },
      ...shared,
    },
    ...{ clock, log: logSink().log, lastDeliveryAt: () => undefined },
    onSize: () => undefined,
  });
  return { membership, calls, clock };
}

describe("a bot that runs", () => {
  test("stops with a reason once a newer version has migrated its inbox too far", async () => {
    const { place, clock, sink, bot, ready } = await running();
    await migrated(place, 999);
    expect(await ready()).toBe(true);
    expect(await instances(place)).toHaveLength(1);
    while (await ready()) await clock.advance(1_000);
    await bot.stop();
    expect(await instances(place)).toEqual([]);
    expect(errorsIn(sink)).toMatchObject([{ err: { code: "INBOX_TOO_NEW" } }]);
  });

  test("stops, too, where the newer version has changed what it gives its signs of life to", async () => {
    const { place, clock, sink, ready } = await running();
    await look(place, `ALTER TABLE ${place.schema}.instance DROP COLUMN delivered_at`);
    for (let seconds = 0; seconds < 20; seconds++) {
      await clock.advance(1_000);
      expect(await ready()).toBe(true);
    }
    await migrated(place, 999);
    while (await ready()) await clock.advance(1_000);
    expect(errorsIn(sink)).toMatchObject([{ err: { code: "INBOX_TOO_NEW" } }]);
  });

  test("takes deliveries no longer, although it has time for them after its stop has begun", async () => {
    const options = { listen: true, drainMs: 600_000 };
    const { place, clock, sink, bot } = await running(undefined, options);
    const stopped = bot.stop();
    await migrated(place, 999);
    while (errorsIn(sink).length === 0) await clock.advance(1_000);
    await stopped;
    expect(errorsIn(sink)).toMatchObject([{ err: { code: "INBOX_TOO_NEW" } }]);
  });

  test("acknowledges nothing from then on, but finishes what it has begun", async () => {
    const { place, clock, bot, ready, deliver, signals, states, end } = await atWork();
    await migrated(place, 999);
    while (await ready()) await clock.advance(1_000);
    const refused = await deliver("3");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    end();
    await bot.stop();
    expect(await states()).toEqual(["done", "pending"]);
  });

  test("ends what it has begun where its inbox was copied: that is handled elsewhere", async () => {
    const { place, clock, bot, ready, deliver, signals, states, end } = await atWork();
    await mark(place);
    while (await ready()) await clock.advance(1_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(signals[0]?.reason).toMatchObject({ code: "LEASE_LOST" });
    expect((await deliver("3")).status).toBe(503);
    end();
    await bot.stop();
    expect(await states()).toEqual(["pending", "pending"]);
    expect(signals).toHaveLength(1);
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
    expect(errorsIn(sink)).toMatchObject([{ err: { code: "INBOX_MOVED" } }]);
  });
});

describe("a bot that starts", () => {
  test("ends where a copy has begun since it opened the inbox, and takes nothing before", async () => {
    const place = await emptyPlace();
    await (await openAt(place)).close();
    const free = await hold(place, `LOCK TABLE ${place.schema}.instance IN EXCLUSIVE MODE`);
    const bot = worldAt(place).createBot();
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

  test("does not if the check itself fails", async () => {
    const place = await emptyPlace();
    await (await openAt(place)).close();
    await look(place, `ALTER TABLE ${place.schema}.instance RENAME delivered_at TO away`);
    const bot = worldAt(place).createBot();
    const away = { code: "STORE_UNAVAILABLE" };
    await expect(bot.start({ standalone: false })).rejects.toMatchObject(away);
    expect(bot.url).toBeUndefined();
    await look(place, `ALTER TABLE ${place.schema}.instance RENAME away TO delivered_at`);
    const next = worldAt(place).createBot();
    await next.start({ standalone: false });
    await next.stop();
  });

  test("reports why it may not use the inbox, although it cannot send a heartbeat", async () => {
    const { membership } = member({
      beat: () => Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "no such column")),
      requireUsable: () => Promise.reject(new ServiceBotError("INBOX_TOO_NEW", "newer")),
    });
    await expect(membership.start(() => undefined)).rejects.toMatchObject({
      code: "INBOX_TOO_NEW",
    });
    await membership.stop();
  });

  test("looks whether it may use the inbox once others can see it, not before", async () => {
    const { membership, calls } = member();
    await membership.start(() => undefined);
    await membership.stop();
    expect(calls).toEqual(["beat", "requireUsable", "leave"]);
  });
});

test("a bot that must stop is visible to others until it has, and is notified once", async () => {
  const told: string[] = [];
  let usable = true;
  const { membership, calls, clock } = member({
    requireUsable: async () => {
      if (!usable) throw new ServiceBotError("INBOX_MOVED", "elsewhere");
    },
  });
  await membership.start(({ code }) => told.push(code));
  usable = false;
  for (let beats = 0; beats < 4; beats++) await clock.advance(5_000);
  expect(told).toEqual(["INBOX_MOVED"]);
  await membership.stop();
  expect(calls).toEqual(["beat", "beat", "beat", "beat", "beat", "leave"]);
});
