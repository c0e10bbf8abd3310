import { describe, expect, test } from "vitest";
import { gate, harness } from "../../dispatcher/harness.ts";
import { attachPostgres } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { listening } from "../../support/postgres/listening.ts";
import { emptyPlace, openAt, type Place, sessionAt, through } from "../../support/postgres/open.ts";
import { wakeUpsOf } from "../../support/postgres/wake-ups.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

const port = (place: Place) => Number(new URL(place.url).port);

/** A clock for waits that are not under test. In real time, they would take too long. */
const still = () => new ManualClock(1_800_000_000_000);

describe("a process is notified", () => {
  test("that another process has stored events, and only once of its own", async () => {
    const place = await emptyPlace();
    const one = await openAt(place, { clock: still() });
    const other = await openAt(place, { clock: still() });
    await listening(place, 2);
    const [own, heard] = [wakeUpsOf(one), wakeUpsOf(other)];
    await one.put(messages("1"), "webhook");
    expect(own.calls).toBe(1);
    await heard.reached(1);
    expect(await other.claim(1, 1_000)).toMatchObject([{ id: "1" }]);
    await other.put(messages("2"), "webhook");
    await own.reached(2);
    expect([own.calls, heard.calls]).toEqual([2, 2]);
  });

  test("what is decided beside it", async () => {
    const place = await emptyPlace();
    const bot = await openAt(place, { clock: still() });
    await bot.put(messages("1"), "webhook");
    await bot.bury(first(await bot.claim(1, 1_000)), "x");
    await listening(place, 1);
    const heard = wakeUpsOf(bot);
    const attached = await attachPostgres(place);
    expect(await attached.served()).toBe(true);
    await attached.admin.retry("1");
    await heard.reached(1);
    expect(await bot.claim(1, 1_000)).toMatchObject([{ id: "1", attempt: 1 }]);
    await bot.close();
    while (await attached.served()) await attached.admin.stats();
    await attached.close();
  });

  test("that another one, which stops, has let lanes go, once for all that ended together", async () => {
    const place = await emptyPlace();
    const clock = still();
    let told = 0;
    const onStatement = (text: string) => {
      if (text.includes("pg_notify")) told += 1;
    };
    const one = await openAt(place, { clock, onStatement });
    const other = await openAt(place, { clock: still() });
    await listening(place, 2);
    const heard = wakeUpsOf(other);
    const lanes = ["a", "b", "c", "d"];
    await one.put(
      lanes.flatMap((lane) => [message(`${lane}1`, lane), message(`${lane}2`, lane)]),
      "webhook",
    );
    const [ends, fails, stays] = [gate(), gate(), gate()];
    const begun = new Set<string>();
    const { dispatcher } = harness(
      async ({ event: { id } }) => {
        begun.add(id);
        await (id === "d1" ? stays : id === "c1" ? fails : ends).pass();
        if (id === "c1") throw new Error("boom");
      },
      { inbox: one, clock },
    );
    while (begun.size < lanes.length) await one.ping();
    await heard.reached(1);
    const drained = dispatcher.drain(60_000);
    // The notification also reports the lanes that were released earlier.
    while (told < 2) {
      await one.ping();
      await clock.advance(100);
    }
    await heard.reached(2);
    const before = told;
    ends.open();
    while ((await other.stats()).done < 2);
    await clock.advance(100);
    // A handler is still running, so the bot has not stopped.
    await heard.reached(3);
    expect(told).toBe(before + 1);
    expect(await other.claim(10, 30_000)).toMatchObject([{ id: "a2" }, { id: "b2" }]);
    fails.open();
    while ((await other.admin.show("c1")).history.length === 0);
    await clock.advance(100);
    await heard.reached(4);
    stays.open();
    await drained;
    await clock.advance(100);
    await heard.reached(5);
    expect(await other.claim(10, 30_000)).toMatchObject([{ id: "d2" }]);
  });

  test("nothing, and looks by itself every few seconds", async () => {
    const place = await emptyPlace();
    const clock = still();
    const bot = await openAt(place, { clock });
    const heard = wakeUpsOf(bot);
    await clock.advance(5_000);
    expect(heard.calls).toBeGreaterThan(0);
  });
});

describe("a connection that is lost", () => {
  test("is made again, and what was missed meanwhile is looked for", async () => {
    const place = await emptyPlace();
    const proxy = await TcpProxy.to(port(place));
    const clock = still();
    const bot = await openAt(through(place, proxy), { clock, random: () => 0 });
    const writer = await openAt(place, { clock: still() });
    await listening(place, 2);
    proxy.cut();
    await writer.put(messages("1"), "webhook");
    await expect(bot.put(messages("2"), "webhook")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    await expect(bot.ping()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const heard = wakeUpsOf(bot);
    proxy.mend();
    // The clock stands still, so the wake-up cannot come from polling.
    while (heard.calls === 0) await clock.advance(0);
    expect(await bot.claim(1, 1_000)).toMatchObject([{ id: "1" }]);
    expect(await bot.put(messages("2"), "webhook")).toMatchObject({ stored: ["2"] });
  });

  test("without anybody saying so is noticed, for the heartbeat has no answer", async () => {
    const place = await emptyPlace();
    const proxy = await TcpProxy.to(port(place));
    const clock = still();
    const options = { clock, random: () => 0, timeoutMs: 1_000 };
    const bot = await openAt(through(place, proxy), options);
    const heard = wakeUpsOf(bot);
    const writer = await openAt(place, { clock: still() });
    await listening(place, 2);
    proxy.freeze();
    await expect(bot.ping()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    proxy.mend();
    // The frozen connection never recovers, so only a new connection can receive notifications.
    await clock.advance(10_000);
    // The server still counts the frozen connection's session.
    let isBack = false;
    void listening(place, 3).then(() => {
      isBack = true;
    });
    while (!isBack) await clock.advance(0);
    const before = heard.calls;
    await writer.put(messages("1"), "webhook");
    await heard.reached(before + 1);
    expect(await bot.claim(1, 1_000)).toMatchObject([{ id: "1" }]);
  });

  test("before a claim was answered costs its events neither an attempt nor their leases", async () => {
    const place = await emptyPlace();
    const proxy = await TcpProxy.to(port(place));
    const bot = await openAt(through(place, proxy), { clock: still(), timeoutMs: 1_000 });
    await bot.put([message("1", "a"), message("2", "b")], "webhook");
    const kept = first(await bot.claim(1, 30_000));
    proxy.hush();
    await expect(bot.claim(10, 30_000)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    proxy.mend();
    // Positive control: the server executed the lost request.
    expect(await bot.admin.show("2")).toMatchObject({ leased: true, attempts: 1 });
    expect(await bot.claim(10, 30_000)).toMatchObject([{ id: "2", attempt: 1, crashes: 0 }]);
    expect(await bot.admin.show("2")).toMatchObject({ history: [] });
    expect(await bot.complete(kept)).toBe(true);
  });

  test("with all others at once, by the server, loses nothing that was accepted", async () => {
    const place = await emptyPlace();
    const bot = await openAt(place);
    const admin = await sessionAt(place);
    const accepted: string[] = [];
    for (let n = 0; n < 60; n++) {
      if (n % 10 === 5) {
        await admin.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
          [`service-bot ${place.schema}`],
        );
      }
      const stored = await bot.put(messages(String(n)), "webhook").catch(() => undefined);
      accepted.push(...(stored?.stored ?? []));
    }
    expect(accepted.length).toBeGreaterThan(40);
    const { rows } = await admin.query(`SELECT id FROM ${place.schema}.event`);
    const kept = new Set(rows.map(({ id }) => id));
    expect(accepted.filter((id) => !kept.has(id))).toEqual([]);
  });
});

test("a connection that is ended in the same breath in which it is ready is an error like others", async () => {
  const place = await emptyPlace();
  let ends = false;
  const proxy = await TcpProxy.to(port(place), (bytes) => {
    if (!ends || bytes.indexOf(KEYS) < 0) return bytes;
    ends = false;
    return Buffer.concat([bytes, SHUTDOWN]);
  });
  const bot = await openAt(through(place, proxy), { clock: still() });
  await listening(place, 1);
  ends = true;
  const { made } = proxy;
  // Send more requests than there are connections, so that the pool opens a new one.
  const pings = await Promise.allSettled([bot.ping(), bot.ping(), bot.ping()]);
  expect(proxy.made).toBeGreaterThan(made);
  expect(ends).toBe(false);
  for (const ping of pings.filter(({ status }) => status === "rejected")) {
    expect(ping).toMatchObject({ reason: { code: "STORE_UNAVAILABLE" } });
  }
  await bot.ping();
});

/** BackendKeyData: K, length, process id and secret. This message ends a session's startup. */
const KEYS = Buffer.from([0x4b, 0, 0, 0, 12]);

/** ErrorResponse: E, length, severity and code, as sent by a server that is shutting down. */
const SHUTDOWN = Buffer.concat([
  Buffer.from([0x45, 0, 0, 0, 4 + 7 + 7 + 6 + 1]),
  Buffer.from("SFATAL\0C57P01\0Mgone\0\0", "latin1"),
]);
