import { expect, test } from "vitest";
import type { ClockView } from "../../faces/platform.ts";
import { PlatformClock } from "../../faces/platform.ts";
import { verify } from "../../faces/signature.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform, timeline } from "../support/platform.ts";
import { runReceiver, runWithWebhook, statuses } from "../support/receiver.ts";

const START = Date.UTC(2030, 0, 1, 12);
const DAY_MS = 86_400_000;

const iso = (ms: number) => new Date(ms).toISOString();

test("the clock is the machine's until it is moved, even over HTTP", async () => {
  const clock = new ManualClock(START);
  const platform = await runPlatform({ clock });
  const put = (body: unknown) => request<ClockView>(platform, "PUT", "/control/v1/clock", { body });
  const { body } = await request<ClockView>(platform, "GET", "/control/v1/clock");
  expect(body).toEqual({ now: iso(START), offsetMs: 0, frozen: false });
  const moved = { now: iso(START + 90_000), offsetMs: 90_000, frozen: false };
  expect(await put({ advanceMs: 90_000 })).toMatchObject({ status: 200, body: moved });
  clock.advance(1_000);
  expect(platform.control.clock.view.now).toBe(iso(START + 91_000));
  await put({ now: "2031-05-06T07:08:09+02:00" });
  expect(platform.control.clock.view.now).toBe("2031-05-06T05:08:09.000Z");
  const back = { now: "1999-12-31T23:59:00.000Z", frozen: true };
  expect((await put(back)).body).toMatchObject(back);
  expect(await platform.waitFor("state", ({ change }) => change === "clock")).toMatchObject({
    at: moved.now,
    detail: `running from ${moved.now}`,
  });
});

test("a frozen clock continues from its time when released", async () => {
  const clock = new ManualClock(START);
  const platform = await runPlatform({ clock });
  platform.control.clock.set({ frozen: true });
  clock.advance(5_000);
  expect(platform.control.clock.view).toEqual({
    now: iso(START),
    offsetMs: -5_000,
    frozen: true,
  });
  platform.control.clock.set({ advanceMs: 1 });
  expect(platform.control.clock.view).toMatchObject({ now: iso(START + 1), frozen: true });
  platform.control.clock.set({ frozen: false });
  clock.advance(10);
  expect(platform.control.clock.view).toMatchObject({ now: iso(START + 11), frozen: false });
});

test("events, the Date header and signatures use the platform's time", async () => {
  const { platform, receiver } = await runWithWebhook(statuses(), {
    clock: new ManualClock(START),
  });
  platform.control.clock.set({ advanceMs: DAY_MS });
  const result = act(platform, "follow");
  expect(result.events[0]?.createdAt).toBe(iso(START + DAY_MS));
  await deliveryOf(platform, ids(result)[0] ?? "");
  const [delivery] = receiver.received;
  const signature = String(delivery?.headers["x-service-signature"]);
  const check = (now: number) =>
    verify(delivery?.body ?? Buffer.alloc(0), signature, {
      secrets: [platform.webhookSecret],
      now,
    }).ok;
  expect(check(START)).toBe(false);
  expect(check(START + DAY_MS)).toBe(true);
  const { headers } = await request(platform, "GET", "/api/v1/me");
  expect(headers.get("date")).toBe(new Date(START + DAY_MS).toUTCString());
});

test("the timeout of a delivery uses the machine's clock, even while the platform's clock is frozen", async () => {
  const clock = new ManualClock(START);
  const platform = await runPlatform({ clock, deliveryTimeoutMs: 700 });
  const arrived = Promise.withResolvers<void>();
  const receiver = await runReceiver(() => arrived.resolve());
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.clock.set({ frozen: true });
  const [id = ""] = ids(act(platform, "follow"));
  await arrived.promise;
  platform.control.clock.set({ advanceMs: 10_000 });
  clock.advance(699);
  await request(platform, "GET", "/api/v1/me");
  expect(receiver.received).toHaveLength(1);
  expect((await timeline(platform)).filter(({ kind }) => String(kind) === "delivery")).toEqual([]);
  clock.advance(1);
  expect(await deliveryOf(platform, id)).toMatchObject({
    ms: 700,
    error: "no response within 700 ms",
  });
});

test("the clock is stored in the state file", async () => {
  const stateFile = `${temporaryFolder()}/state.db`;
  const clock = new ManualClock(START);
  const first = await runPlatform({ clock, stateFile });
  first.control.clock.set({ advanceMs: DAY_MS });
  await first.stop();
  clock.advance(5);
  const second = await runPlatform({ clock, stateFile });
  expect(second.control.clock.view.now).toBe(iso(START + DAY_MS + 5));
  second.control.clock.set({ frozen: true });
  const { now } = second.control.clock.view;
  await second.stop();
  clock.advance(5);
  const third = await runPlatform({ clock, stateFile });
  expect(third.control.clock.view).toMatchObject({ now, frozen: true });
});

/** Puts a platform's clock on top of the machine's. */
function clocks() {
  const real = new ManualClock(START);
  const clock = new PlatformClock(real);
  const fired: string[] = [];
  const timer = (name: string, ms: number) => clock.timer(ms, () => fired.push(name));
  return { real, clock, fired, timer };
}

function move(clock: PlatformClock, ms: number, frozen = false): void {
  const now = START + ms;
  clock.set({
    offsetMs: now - clock.real.now(),
    frozenAt: frozen ? now : null,
  });
}

test("timers fire in order, immediately if overdue, and otherwise at their time", () => {
  const { real, clock, fired, timer } = clocks();
  timer("late", 300);
  timer("second", 200);
  timer("first", 100);
  move(clock, 250);
  expect(fired).toEqual(["first", "second"]);
  real.advance(49);
  expect(fired).toHaveLength(2);
  real.advance(1);
  expect(fired).toEqual(["first", "second", "late"]);
});

test("a cancelled timer does not fire, even if an earlier timer cancels it", () => {
  const { real, clock, fired, timer } = clocks();
  const cancel = timer("cancelled", 10);
  const other = timer("cancelled, too", 50);
  clock.timer(40, () => other());
  cancel();
  timer("control", 50);
  move(clock, 60);
  real.advance(100);
  expect(fired).toEqual(["control"]);
});

test("while the clock is frozen no timer fires, unless it is already due", () => {
  const { real, clock, fired, timer } = clocks();
  timer("before", 10);
  move(clock, 0, true);
  timer("while", 10);
  timer("at once", 0);
  real.advance(1_000);
  expect(fired).toEqual(["at once"]);
  move(clock, 0);
  real.advance(9);
  expect(fired).toHaveLength(1);
  real.advance(1);
  expect(fired).toEqual(["at once", "before", "while"]);
});

test("moving the clock back does not extend a wait", () => {
  const { real, clock, fired, timer } = clocks();
  timer("wait", 100);
  move(clock, -DAY_MS);
  real.advance(99);
  expect(fired).toEqual([]);
  real.advance(1);
  expect(fired).toEqual(["wait"]);
});

test("a timer beyond Node's maximum delay does not fire early", () => {
  const { real, fired, timer } = clocks();
  timer("far", 60 * DAY_MS);
  for (let day = 1; day < 60; day += 1) real.advance(DAY_MS);
  expect(fired).toEqual([]);
  real.advance(DAY_MS);
  expect(fired).toEqual(["far"]);
});
