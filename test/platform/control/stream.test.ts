import { request as httpRequest } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Timeline, TimelineStream } from "../../faces/platform.ts";
import { ManualClock } from "../support/clock.ts";
import { act, ids, request, runPlatform, withControlToken } from "../support/platform.ts";
import { serve } from "../support/serve.ts";
import { readStream } from "../support/stream.ts";

const upTo = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

const entry = { kind: "webhook", bot: "bot", change: "saved", reason: "test" } as const;

async function runTimeline() {
  const clock = new ManualClock(0);
  const timeline = new Timeline(clock);
  const stream = new TimelineStream(timeline, clock);
  onTestFinished(() => timeline.end());
  const url = await serve((incoming) => stream.answer(incoming));
  return { clock, timeline, url };
}

test("the stream sends a hello message, past entries, and then new ones", async () => {
  const platform = await runPlatform();
  const [first] = ids(act(platform, "follow"));
  const stream = await readStream(platform.url, "", withControlToken(platform));
  expect(Object.fromEntries(stream.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  const [hello, before] = await stream.has(2);
  expect(hello).toMatchObject({ event: "hello", id: undefined });
  const { run, ...rest } = JSON.parse(hello?.data ?? "");
  expect(rest).toEqual({ last: 1, oldest: 1 });
  const { entries } = (
    await request<{ entries: unknown[] }>(platform, "GET", "/control/v1/timeline")
  ).body;
  expect(JSON.parse(before?.data ?? "")).toEqual(entries[0]);
  expect(before).toMatchObject({ event: undefined, id: `${run}.1` });
  expect(before?.data).toContain(first);
  const [second] = ids(act(platform, "like", { from: "ben" }));
  const message = (await stream.has(3)).at(-1);
  expect(message?.id).toBe(`${run}.2`);
  expect(JSON.parse(message?.data ?? "")).toMatchObject({ seq: 2, id: second, from: "ben" });
});

test("a change without an entry is announced; a rejected change and a read are not", async () => {
  const platform = await runPlatform();
  const stream = await readStream(platform.url, "", withControlToken(platform));
  await stream.has(1);
  await request(platform, "GET", "/control/v1/state");
  await request(platform, "PUT", "/control/v1/storage", { body: { configured: "maybe" } });
  await request(platform, "PUT", "/control/v1/storage", { body: { configured: false } });
  await stream.has(2);
  act(platform, "follow");
  const told = (await stream.has(3)).map(
    ({ event, id, data }) => event ?? (id && JSON.parse(data).kind),
  );
  expect(told).toEqual(["hello", "changed", "event"]);
});

test("a stream begins after the given entry, and the last event id takes precedence", async () => {
  const platform = await runPlatform();
  act(platform, "follow", { count: 5 });
  const after = await readStream(platform.url, "?after=3", withControlToken(platform));
  const [hello] = await after.has(3);
  expect(after.seqs).toEqual([4, 5]);
  const { run } = JSON.parse(hello?.data ?? "");
  const again = await readStream(platform.url, "?after=1", {
    ...withControlToken(platform),
    "last-event-id": `${run}.4`,
  });
  await again.has(2);
  expect(again.seqs).toEqual([5]);
  // The stream restarts from the beginning if the id is from another run, lies beyond the end, or was never sent.
  for (const [query, id] of [
    ["?after=3", "abc.4"],
    ["?after=3", `${run}.6`],
    ["?after=3", "4"],
    ["?after=6", ""],
  ]) {
    const anew = await readStream(platform.url, query, {
      ...withControlToken(platform),
      "last-event-id": id ?? "",
    });
    await anew.has(6);
    expect(anew.seqs, `${query} ${id}`).toEqual([1, 2, 3, 4, 5]);
  }
});

test("two platforms, and two runs of one platform, have different ids", async () => {
  const names = await Promise.all(
    [await runPlatform(), await runPlatform()].map(async (platform) => {
      const headers = withControlToken(platform);
      const [hello] = await (await readStream(platform.url, "", headers)).has(1);
      return JSON.parse(hello?.data ?? "").run;
    }),
  );
  expect(new Set(names).size).toBe(2);
});

test("many readers get 10,000 entries and concurrent ones, each once and in order", async () => {
  const { timeline, url } = await runTimeline();
  for (let n = 0; n < 12_000; n += 1) timeline.add(entry);
  const readers = await Promise.all(upTo(1, 5).map(() => readStream(url)));
  for (let n = 0; n < 500; n += 1) timeline.add(entry);
  await Promise.all(readers.map((reader) => reader.has(10_501)));
  for (const reader of readers) {
    expect(JSON.parse(reader.messages[0]?.data ?? "")).toMatchObject({
      oldest: 2_001,
      last: 12_000,
    });
    expect(reader.seqs).toEqual(upTo(2_001, 12_500));
  }
});

test("entries added in the same turn are written together", async () => {
  const { timeline, url } = await runTimeline();
  const stream = await readStream(url);
  await stream.has(1);
  let chunks = 0;
  const count = 400;
  const raw = httpRequest(`${url}/control/v1/stream`, (response) => {
    response.on("data", () => (chunks += 1));
  }).end();
  onTestFinished(() => void raw.destroy());
  await new Promise((resolve) => raw.once("response", resolve));
  for (let n = 0; n < count; n += 1) timeline.add(entry);
  await stream.has(count + 1);
  await expect.poll(() => chunks).toBeGreaterThan(1);
  expect(chunks).toBeLessThan(10);
});

test("a reader that does not read is disconnected when its next entry is gone, and costs little until then", async () => {
  const { timeline, url } = await runTimeline();
  const raw = httpRequest(`${url}/control/v1/stream`).end();
  onTestFinished(() => void raw.destroy());
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) =>
    raw.once("response", resolve),
  );
  response.pause();
  const cut = new Promise((resolve) => response.once("close", resolve));
  response.on("error", () => {});
  const healthy = await readStream(url);
  const reason = "x".repeat(2_000);
  let sent = 0;
  // Send 40 MB, more than the kernel buffers.
  for (let round = 0; round < 40; round += 1) {
    for (let n = 0; n < 500; n += 1) timeline.add({ ...entry, reason });
    sent += 500;
    await healthy.has(sent + 1);
  }
  response.resume();
  await cut;
  expect(response.complete).toBe(false);
  // A reader that keeps up is unaffected.
  expect(healthy.seqs).toEqual(upTo(1, sent));
});

test("a quiet stream sends a heartbeat every 15 s", async () => {
  const { clock, url } = await runTimeline();
  const stream = await readStream(url);
  await stream.has(1);
  clock.advance(14_999);
  expect(stream.comments).toEqual([]);
  clock.advance(1);
  await stream.hasComment();
  expect(stream.messages).toHaveLength(1);
});

test("a stream ends with the platform", async () => {
  const platform = await runPlatform();
  const stream = await readStream(platform.url, "", withControlToken(platform));
  await stream.has(1);
  await platform.stop();
  await stream.ended;
});

test("the stream continues after a reset", async () => {
  const platform = await runPlatform();
  const stream = await readStream(platform.url, "", withControlToken(platform));
  await stream.has(1);
  platform.control.reset();
  const message = (await stream.has(2)).at(-1);
  expect(JSON.parse(message?.data ?? "")).toMatchObject({ kind: "state", change: "reset" });
});
