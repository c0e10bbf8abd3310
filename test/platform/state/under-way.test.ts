import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { mulberry32 } from "../../support/mulberry32.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { post } from "../conformance/http.ts";
import { newUpload, rawBytes } from "../conformance/setup.ts";
import { ManualClock } from "../support/clock.ts";
import { image } from "../support/images.ts";
import {
  act,
  deliveryOf,
  ids,
  request,
  runPlatform,
  timeline,
  worldOf,
} from "../support/platform.ts";
import { deliverNew, runReceiver, runWithWebhook } from "../support/receiver.ts";
import { startWithHeldDownloads } from "../uploads/start.ts";

// Requests and deliveries in flight when the state is replaced belong to the old state. They must neither change nor
// delay the new state.

const replacements: readonly [string, (platform: Platform) => void][] = [
  ["a restore", (platform) => void platform.control.snapshots.restore("snap_1")],
  ["a reset", (platform) => platform.control.reset()],
];

async function slowReceiver() {
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<number>();
  const receiver = await runReceiver((response, nth) => {
    if (nth > 1) response.writeHead(200).end();
    else {
      arrived.resolve();
      answer.promise.then((status) => response.writeHead(status).end());
    }
  });
  return { ...receiver, arrived: arrived.promise, answer: answer.resolve };
}

/** A fault makes the first delivery fail, so the event stays pending. */
async function owing() {
  const { clock, platform, receiver } = await runWithWebhook();
  platform.control.setFaults({ webhook: { mode: "status", times: 1 } });
  const { eventId: owed } = await deliverNew(platform);
  return { clock, platform, receiver, owed };
}

test("events pending in the snapshot are delivered after a restore, even if they had been delivered before", async () => {
  const { clock, platform, receiver, owed } = await owing();
  const { id } = platform.control.snapshots.take();
  clock.advance(30_000);
  await deliveryOf(platform, owed, { attempt: 2 });
  // By the time this response arrives, the deliverer has noticed that no event is pending.
  await request(platform, "GET", "/control/v1/state");
  const after = platform.control.state().timelineSeq;
  platform.control.snapshots.restore(id);
  // The delivery comes immediately, as the second attempt, because the first attempt failed before the snapshot.
  const again = await deliveryOf(platform, owed, { attempt: 2, after });
  expect(again).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[owed], [owed]]);
});

test.each([200, 500])("a delivery that gets %i after a restore changes nothing", async (status) => {
  const platform = await runPlatform({ disableAfter: 1 });
  const receiver = await slowReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  await receiver.arrived;
  // The event is pending in the snapshot, so restoring the snapshot makes it pending again.
  const snapshot = platform.control.snapshots.take();
  const after = platform.control.state().timelineSeq;
  platform.control.snapshots.restore(snapshot.id);
  receiver.answer(status);
  const cut = { status: null, error: "the state was replaced" };
  expect(await platform.waitFor("delivery", () => true, { after })).toMatchObject(cut);
  const sent = await deliveryOf(platform, id, { after: after + 2 });
  expect(sent).toMatchObject({ status: 200, attempt: 1 });
  expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  expect(receiver.batches()).toEqual([[id], [id]]);
});

test("a hanging delivery does not delay the new state", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const { id } = platform.control.snapshots.take();
  const receiver = await slowReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  act(platform, "follow");
  await receiver.arrived;
  platform.control.snapshots.restore(id);
  platform.control.saveWebhook({ url: receiver.url });
  expect(await deliverNew(platform, "like")).toMatchObject({ status: 200 });
});

test("a restore does not wait for the previous state's round", async () => {
  const { platform, receiver, owed } = await owing();
  await request(platform, "GET", "/control/v1/state");
  expect(receiver.received).toEqual([]);
  platform.control.snapshots.restore(platform.control.snapshots.take().id);
  expect(await deliveryOf(platform, owed, { attempt: 2 })).toMatchObject({ status: 200 });
});

test("a delivery that arrives during a restore is pending again", async () => {
  const { platform, receiver, owed } = await owing();
  const { id } = platform.control.snapshots.take();
  const ignore = platform.onTimeline(({ kind }) => {
    if (kind !== "delivery") return;
    ignore();
    platform.control.snapshots.restore(id);
  });
  const after = platform.control.state().timelineSeq;
  platform.control.clock.set({ advanceMs: 30_000 });
  const { seq } = await platform.waitFor("state", ({ change }) => change === "restored", { after });
  await deliveryOf(platform, owed, { attempt: 2, after: seq });
  expect(receiver.batches()).toEqual([[owed], [owed]]);
});

test.each([
  ["timeout", {}],
  ["delay", { delayMs: 60_000 }],
] as const)("a delivery under the fault %s does not delay the new state", async (mode, more) => {
  const platform = await runPlatform();
  const { id } = platform.control.snapshots.take();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.setFaults({ webhook: { mode, times: 1, ...more } });
  act(platform, "follow");
  await platform.waitFor("fault", ({ change }) => change === "ended");
  platform.control.snapshots.restore(id);
  platform.control.saveWebhook({ url: receiver.url });
  const { eventId: next } = await deliverNew(platform, "like");
  expect(receiver.batches()).toEqual([[next]]);
});

test("the second of two deliveries is not sent once the state was replaced", async () => {
  const platform = await runPlatform();
  const receiver = await slowReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.setFaults({ webhook: { mode: "twice" } });
  platform.control.snapshots.take();
  act(platform, "follow");
  await receiver.arrived;
  platform.control.snapshots.restore("snap_1");
  const { eventId: next } = await deliverNew(platform, "like");
  expect(receiver.batches()).toEqual([[expect.any(String)], [next]]);
});

test("late events belong to their state, and arrive only with it", async () => {
  const platform = await runPlatform({ clock: new ManualClock() });
  platform.control.setFaults({ events: { mode: "late", lateMs: 1_000 } });
  const [late = ""] = ids(act(platform, "follow"));
  const log = () => platform.control.events().map(({ id }) => id);
  platform.control.clock.set({ frozen: true });
  const { id } = platform.control.snapshots.take();
  platform.control.reset();
  platform.control.clock.set({ advanceMs: 1_000 });
  expect(log()).toEqual([]);
  platform.control.snapshots.restore(id);
  expect(platform.control.faults.events).toMatchObject({ mode: "none", held: 1 });
  expect(log()).toEqual([]);
  platform.control.clock.set({ advanceMs: 1_000 });
  expect(log()).toEqual([late]);
  expect(ids(act(platform, "follow"))).toEqual(["evt_000000000002"]);
});

test("a retry round of the previous state does not run", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const { id } = platform.control.snapshots.take();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.setFaults({ webhook: { mode: "status", times: 1 } });
  await deliveryOf(platform, ids(act(platform, "follow"))[0] ?? "");
  platform.control.snapshots.restore(id);
  platform.control.saveWebhook({ url: receiver.url });
  clock.advance(30_000);
  const { eventId: next } = await deliverNew(platform, "like");
  expect(receiver.batches()).toEqual([[next]]);
});

test.each(replacements)(
  "a forced delivery makes no further attempt after %s",
  async (_, replace) => {
    const platform = await runPlatform();
    platform.control.snapshots.take();
    const receiver = await slowReceiver();
    platform.control.saveWebhook({ url: receiver.url, types: ["like"] });
    const eventIds = ids(act(platform, "follow"));
    const deliveries = platform.control.deliver({ eventIds, times: 3 });
    await receiver.arrived;
    replace(platform);
    expect(await deliveries).toMatchObject([{ status: null, error: "the state was replaced" }]);
    expect(receiver.received).toHaveLength(1);
  },
);

test.each(replacements)(
  "a held request is rejected after %s, and has no effect",
  async (_, replace) => {
    const platform = await runPlatform();
    platform.control.snapshots.take();
    platform.control.setFaults({ api: { mode: "hold", match: "write" } });
    const post = request(platform, "POST", "/api/v1/posts", { body: { text: "held" } });
    await platform.waitFor("fault", ({ change }) => change === "held");
    replace(platform);
    const refused = await post;
    expect(refused).toMatchObject({ status: 503, body: { error: { code: "STATE_REPLACED" } } });
    // Without this header, a bot would assume that a gateway sent the response, and would search for its post.
    expect(refused.headers.get("retry-after")).toBe("0");
    const feed = () => request<{ items: unknown[] }>(platform, "GET", "/api/v1/feed");
    expect((await feed()).body.items).toHaveLength(1);
    const again = await request(platform, "POST", "/api/v1/posts", { body: { text: "again" } });
    expect(again.status).toBe(201);
    expect((await feed()).body.items).toHaveLength(2);
  },
);

test.each(replacements)(
  "an upload whose download is in progress is dropped after %s",
  async (_, replace) => {
    const { platform, upload, asked, go } = await startWithHeldDownloads();
    platform.control.snapshots.take();
    const first = upload();
    await asked;
    replace(platform);
    go();
    expect(await first).toMatchObject({
      status: 503,
      body: { error: { code: "STATE_REPLACED" } },
    });
    expect(platform.control.limits.uploadsPerDay.used).toBe(0);
    expect((await upload()).status).toBe(200);
    expect(platform.control.limits.uploadsPerDay.used).toBe(1);
  },
);

test("a snapshot with a frozen clock restores its upload", async () => {
  const platform = await runPlatform();
  platform.control.clock.set({ frozen: true });
  const upload = await newUpload(worldOf(platform));
  const { id } = platform.control.snapshots.take();
  platform.control.clock.set({ advanceMs: 3_600_000 });
  expect((await fetch(upload.url)).status).toBe(404);
  platform.control.snapshots.restore(id);
  expect((await fetch(upload.url)).status).toBe(200);
  const body = { imageKeys: [upload.key] };
  expect((await request(platform, "POST", "/api/v1/posts", { body })).status).toBe(201);
});

test("a restored upload is removed at its time", async () => {
  const stateFile = join(temporaryFolder(), "state.db");
  const platform = await runPlatform({ stateFile });
  platform.control.clock.set({ frozen: true });
  const upload = await newUpload(worldOf(platform));
  const { id } = platform.control.snapshots.take();
  platform.control.clock.set({ advanceMs: 3_600_000 });
  platform.control.snapshots.restore(id);
  expect((await fetch(upload.url)).status).toBe(200);
  platform.control.clock.set({ advanceMs: 3_600_000 });
  await platform.stop();
  const db = new Sqlite(stateFile);
  expect(db.prepare("SELECT count(*) FROM image").pluck().get()).toBe(0);
  db.close();
});

test("a long poll and a wait continue across a restore, and get its entry", async () => {
  const platform = await runPlatform();
  const { id } = platform.control.snapshots.take();
  const { timelineSeq } = platform.control.state();
  const path = `/control/v1/timeline?after=${timelineSeq}&waitMs=30000`;
  const poll = request<{ entries: object[]; last: number }>(platform, "GET", path);
  const event = platform.waitFor("event");
  // Once a later request has its response, the first request is waiting.
  await request(platform, "GET", "/control/v1/state");
  platform.control.snapshots.restore(id);
  const { entries, last } = (await poll).body;
  expect(entries).toMatchObject([{ kind: "state", change: "restored" }]);
  expect(last).toBe(timelineSeq + 1);
  const [made = ""] = ids(act(platform, "follow"));
  expect(await event).toMatchObject({ id: made });
});

test("restores during all kinds of work leave a consistent state", {
  timeout: 60_000,
}, async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const random = mulberry32(seed);
  const platform = await runPlatform({ random, retryIntervalMs: 5, disableAfter: 1_000_000 });
  const receiver = await runReceiver((response) =>
    random() < 0.2 ? response.writeHead(500).end() : response.writeHead(200).end(),
  );
  platform.control.saveWebhook({ url: receiver.url });
  const { conversationId = "" } = act(platform, "dm.message");
  const shot = platform.control.snapshots.take();
  const seen: string[] = [];
  const statuses = new Set<number>();
  const say = async () => {
    const path = `/api/v1/dm/conversations/${conversationId}/messages`;
    statuses.add((await request(platform, "POST", path, { body: { text: "x" } })).status);
  };
  const upload = async () => {
    statuses.add((await post(worldOf(platform), "/uploads", rawBytes(await image()))).status);
  };
  const restore = async () => {
    const path = `/control/v1/snapshots/${shot.id}/restore`;
    statuses.add((await request(platform, "POST", path)).status);
  };
  const happen = async () => {
    seen.push(...ids(act(platform, "dm.message", { count: 1 + Math.floor(random() * 60) })));
  };
  const steps = [say, say, upload, happen, happen, restore];
  for (let round = 0; round < 15; round += 1) {
    const chosen = Array.from({ length: 6 }, () => steps[Math.floor(random() * steps.length)]);
    await Promise.all(chosen.map((step) => step?.()));
  }
  // Numbers are unique and always increase.
  expect(seen).toEqual([...new Set(seen)].sort());
  expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
  await restore();
  const [last = ""] = ids(act(platform, "follow"));
  await platform.waitFor("delivery", ({ eventIds, error }) => {
    return error === undefined && eventIds.at(-1) === last;
  });
  expect(platform.control.messages(conversationId)).toHaveLength(1);
  expect(platform.control.events().map(({ id }) => id)).toEqual(["evt_000000000001", last]);
  expect((await timeline(platform)).length).toBeGreaterThan(30);
});
