import { join } from "node:path";
import { expect, test } from "vitest";
import type { KnownEvent } from "../faces/events.ts";
import type { Platform } from "../faces/platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ManualClock } from "./support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform, timeline } from "./support/platform.ts";
import { deliverNew, runReceiver } from "./support/receiver.ts";

const LATE_MS = 4_000;

async function log(platform: Platform, query = ""): Promise<[string[], string]> {
  type Page = { readonly events: readonly KnownEvent[]; readonly cursor: string };
  const { body } = await request<Page>(platform, "GET", `/api/v1/events${query}`);
  return [body.events.map(({ id }) => id), body.cursor];
}

async function scene(): Promise<{ clock: ManualClock; platform: Platform }> {
  const clock = new ManualClock();
  return { clock, platform: await runPlatform({ clock }) };
}

function lateNext(platform: Platform, times = 1): void {
  platform.control.setFaults({ events: { mode: "late", lateMs: LATE_MS, times } });
}

test("a late event enters the log below newer ones at its due time", async () => {
  const { clock, platform } = await scene();
  const [first = ""] = ids(act(platform, "follow"));
  lateNext(platform);
  const made = act(platform, "dm.message", { text: "late" });
  const [late = ""] = ids(made);
  const [last = ""] = ids(act(platform, "like"));
  expect([first, late, last].sort()).toEqual([first, late, last]);
  clock.advance(LATE_MS - 1);
  expect(await log(platform)).toEqual([[first, last], last]);
  expect(await log(platform, `?since=${first}`)).toEqual([[last], last]);
  expect(platform.control.events().map(({ id }) => id)).toEqual([first, last]);
  clock.advance(1);
  expect(await log(platform)).toEqual([[first, late, last], last]);
  expect(await log(platform, `?since=${first}&limit=1`)).toEqual([[late], late]);
  // The late event is the original event, with its original time.
  expect(platform.control.events(first)[0]).toEqual(made.events[0]);
});

test("the cursor for an empty since is never past a pending late event", async () => {
  const { clock, platform } = await scene();
  lateNext(platform);
  act(platform, "follow");
  expect(await log(platform, "?since=")).toEqual([[], "evt_000000000000"]);
  expect(platform.control.state().lastEventId).toBeNull();
  clock.advance(LATE_MS);
  const [one = ""] = ids(act(platform, "like"));
  expect(await log(platform, "?since=")).toEqual([[], one]);
  lateNext(platform);
  const [late = ""] = ids(act(platform, "follow"));
  const [last = ""] = ids(act(platform, "like"));
  expect(await log(platform, "?since=")).toEqual([[], one]);
  expect(platform.control.state().lastEventId).toBe(last);
  clock.advance(LATE_MS);
  expect(await log(platform, "?since=")).toEqual([[], last]);
  expect((await log(platform, `?since=${one}`))[0]).toEqual([late, last]);
});

test("the webhook gets a late event at its due time, after newer ones", async () => {
  const { clock, platform } = await scene();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  lateNext(platform);
  const [late = ""] = ids(act(platform, "follow"));
  const { eventId: next } = await deliverNew(platform, "like");
  clock.advance(LATE_MS);
  await deliveryOf(platform, late);
  expect(receiver.batches()).toEqual([[next], [late]]);
});

test("a late event uses the webhook settings of its due time", async () => {
  const { clock, platform } = await scene();
  const receiver = await runReceiver();
  lateNext(platform, 2);
  const [late = ""] = ids(act(platform, "follow"));
  act(platform, "like");
  platform.control.saveWebhook({ url: receiver.url, types: ["follow", "mention"] });
  clock.advance(LATE_MS);
  await deliveryOf(platform, late);
  const { eventId: control } = await deliverNew(platform, "mention");
  expect(receiver.batches()).toEqual([[late], [control]]);
});

test("a late event cannot be forced before its due time", async () => {
  const { clock, platform } = await scene();
  const receiver = await runReceiver();
  lateNext(platform);
  const eventIds = ids(act(platform, "follow"));
  platform.control.saveWebhook({ url: receiver.url });
  const force = () => request(platform, "POST", "/control/v1/deliveries", { body: { eventIds } });
  expect((await force()).status).toBe(404);
  expect(receiver.received).toEqual([]);
  clock.advance(LATE_MS);
  expect((await force()).status).toBe(200);
});

test("events are late until the fault ends, and events already late stay late", async () => {
  const clock = new ManualClock();
  const draws = [0.1, 0.9, 0.49];
  const platform = await runPlatform({ clock, random: () => draws.shift() ?? 1 });
  const events = { mode: "late", lateMs: LATE_MS, rate: 0.5 };
  await request(platform, "PUT", "/control/v1/faults", { body: { events } });
  const all = ids(act(platform, "like", { count: 3 }));
  expect((await log(platform))[0]).toEqual([all[1]]);
  expect(platform.control.faults.events).toEqual({ ...events, held: 2 });
  await request(platform, "PUT", "/control/v1/faults", { body: { events: { mode: "none" } } });
  const [next = ""] = ids(act(platform, "follow"));
  expect((await log(platform))[0]).toEqual([all[1], next]);
  clock.advance(LATE_MS);
  expect((await log(platform))[0]).toEqual([...all, next]);
  expect(platform.control.faults.events).toEqual({ mode: "none", lateMs: 0, held: 0 });
});

test("events with different delays arrive in the order of their due times", async () => {
  const { clock, platform } = await scene();
  const late: string[] = [];
  for (const lateMs of [3_000, 1_000, 2_000]) {
    platform.control.setFaults({ events: { mode: "late", lateMs, times: 1 } });
    late.push(...ids(act(platform, "like")));
  }
  const seen: string[][] = [];
  for (let second = 1; second <= 3; second += 1) {
    clock.advance(1_000);
    seen.push((await log(platform))[0]);
  }
  const [three = "", one = "", two = ""] = late;
  expect(seen).toEqual([[one], [one, two], [three, one, two]]);
});

test("a restart does not change the due time of a late event", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const clock = new ManualClock();
  const receiver = await runReceiver();
  const first = await runPlatform({ stateFile, clock });
  first.control.saveWebhook({ url: receiver.url });
  lateNext(first);
  const [late = ""] = ids(act(first, "follow"));
  await first.stop();
  clock.advance(LATE_MS - 1);
  const second = await runPlatform({ stateFile, clock });
  const [next = ""] = ids(act(second, "like"));
  expect((await log(second))[0]).toEqual([next]);
  await deliveryOf(second, next);
  clock.advance(1);
  expect((await log(second))[0]).toEqual([late, next]);
  await deliveryOf(second, late);
  expect(receiver.batches()).toEqual([[next], [late]]);
});

test("an event due while the platform is stopped is in the log after the restart", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const clock = new ManualClock();
  const receiver = await runReceiver();
  const first = await runPlatform({ stateFile, clock });
  first.control.saveWebhook({ url: receiver.url });
  lateNext(first);
  const all = ids(act(first, "follow"));
  await first.stop();
  clock.advance(2 * LATE_MS);
  const second = await runPlatform({ stateFile, clock });
  expect((await log(second))[0]).toEqual(all);
  await deliveryOf(second, all[0] ?? "");
  expect(receiver.batches()).toEqual([all]);
});

test("late events also arrive with a real clock", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ events: { mode: "late", lateMs: 5, times: 1 } });
  const all = ids(act(platform, "follow"));
  await platform.waitFor("fault", ({ change }) => change === "released");
  expect((await log(platform))[0]).toEqual(all);
});

test("a late action and its arrival are in the timeline", async () => {
  const { clock, platform } = await scene();
  lateNext(platform);
  const [id = ""] = ids(act(platform, "follow"));
  clock.advance(LATE_MS);
  expect(await timeline(platform)).toMatchObject([
    { kind: "fault", target: "events", change: "set" },
    { kind: "fault", target: "events", change: "ended" },
    { kind: "event", id, type: "follow", lateMs: LATE_MS },
    { kind: "fault", target: "events", change: "released", detail: `${id} is now in the log` },
  ]);
});

test("a late event of one bot does not delay another bot's events", async () => {
  const { clock, platform } = await scene();
  const { apiKey: token } = platform.control.apps.create({ username: "other" });
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url }, "other");
  lateNext(platform);
  const [late = ""] = ids(act(platform, "follow", { to: "other" }));
  const [mine = ""] = ids(act(platform, "follow"));
  expect(await log(platform, "?since=")).toEqual([[], mine]);
  const present = () =>
    request<{ cursor: string }>(platform, "GET", "/api/v1/events?since=", { token });
  expect((await present()).body.cursor).toBe("evt_000000000000");
  clock.advance(LATE_MS);
  expect(await deliveryOf(platform, late)).toMatchObject({ bot: "other", status: 200 });
  expect((await present()).body.cursor).toBe(late);
});
