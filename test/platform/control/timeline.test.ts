import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../faces/core.ts";
import type { Platform, TimelineEntry } from "../../faces/platform.ts";
import { ControlApi, endpointsOf, Timeline, type TimelineListener } from "../../faces/platform.ts";
import { ManualClock } from "../support/clock.ts";
import { act, ids, request, runPlatform } from "../support/platform.ts";
import { serve } from "../support/serve.ts";

interface Answer {
  readonly entries: readonly TimelineEntry[];
  readonly last: number;
}

async function read(platform: Platform, query = ""): Promise<Answer> {
  const { status, body } = await request<Answer>(platform, "GET", `/control/v1/timeline${query}`);
  expect(status).toBe(200);
  return body;
}

test("an event shows its actor, place and text", async () => {
  const platform = await runPlatform({ clock: new ManualClock(0) });
  const long = "x".repeat(300);
  const result = act(platform, "dm.message", { text: long });
  const [message] = ids(result);
  const { conversationId } = result;
  const [follow] = ids(act(platform, "follow", { from: "ben" }));
  const common = { at: "1970-01-01T00:00:00.000Z", kind: "event", bot: "bot" };
  expect(await read(platform)).toEqual({
    entries: [
      {
        seq: 1,
        ...common,
        id: message,
        type: "dm.message",
        from: "ada",
        conversationId,
        contentId: result.messageId,
        text: long,
      },
      { seq: 2, ...common, id: follow, type: "follow", from: "ben" },
    ],
    last: 2,
  });
});

test("a request with too long a text shows the beginning, up to the limit", async () => {
  const platform = await runPlatform();
  const body = { text: "😀".repeat(4001) };
  const { status } = await request(platform, "POST", "/api/v1/posts", { body });
  expect(status).toBe(400);
  const [entry] = (await read(platform)).entries;
  expect(entry).toMatchObject({ kind: "api", status: 400, text: "😀".repeat(4000) });
});

test("a request to the API shows its text and what it created", async () => {
  const platform = await runPlatform({ clock: new ManualClock(0) });
  const { conversationId } = act(platform, "dm.message");
  const path = `/dm/conversations/${conversationId}/messages`;
  await request(platform, "POST", `/api/v1${path}`, { body: { text: "hi" } });
  await request(platform, "POST", "/api/v1/posts", { body: { text: "news" } });
  await request(platform, "POST", "/api/v1/posts/p_1/comments", { body: { text: "yes" } });
  const { entries } = await read(platform, "?after=1");
  const common = {
    at: "1970-01-01T00:00:00.000Z",
    kind: "api",
    bot: "bot",
    method: "POST",
    ms: 0,
    status: 201,
  };
  expect(entries).toEqual([
    {
      seq: 2,
      ...common,
      id: "call_1",
      path,
      text: "hi",
      created: { conversationId, messageId: "m_3" },
    },
    { seq: 3, ...common, id: "call_2", path: "/posts", text: "news", created: { postId: "p_2" } },
    {
      seq: 4,
      ...common,
      id: "call_3",
      path: "/posts/p_1/comments",
      text: "yes",
      created: { postId: "p_1", commentId: "cm_1" },
    },
  ]);
});

test("a page of the log shows its events", async () => {
  const platform = await runPlatform();
  const [first, second] = ids(act(platform, "follow", { count: 2 }));
  await request(platform, "GET", "/api/v1/events?limit=1");
  await request(platform, "GET", `/api/v1/events?since=${first}`);
  await request(platform, "GET", `/api/v1/events?since=${second}`);
  const { entries } = await read(platform, "?after=2");
  const shown = entries.map((entry) => entry.kind === "api" && entry.eventIds);
  expect(shown).toEqual([[first], [second], undefined]);
});

test("rejected requests are in the timeline, but tokens are not", async () => {
  const platform = await runPlatform();
  await request(platform, "GET", "/api/v1/events?since=1");
  await request(platform, "GET", "/api/v1/me", { token: "sbk_canary" });
  await request(platform, "POST", "/api/v1/nothing", { body: {} });
  await request(platform, "DELETE", "/api/v1/me");
  const { entries } = await read(platform);
  expect(entries).toMatchObject([
    { method: "GET", path: "/events", status: 400 },
    { method: "GET", path: "/me", status: 401 },
    { method: "POST", path: "/nothing", status: 404 },
    { method: "DELETE", path: "/me", status: 405 },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/sbk_|whsec_/);
});

test("a client that has a response finds its entry in the timeline", async () => {
  const platform = await runPlatform();
  for (let n = 1; n <= 20; n += 1) {
    await request(platform, "GET", "/api/v1/me");
    expect((await read(platform)).last).toBe(n);
  }
});

function newTimeline(): Timeline {
  const timeline = new Timeline(systemClock);
  onTestFinished(() => timeline.end());
  return timeline;
}

const entry = { kind: "webhook", bot: "bot", change: "saved", reason: "test" } as const;

test("a wait ends with the first new entry", async () => {
  const timeline = newTimeline();
  timeline.add(entry);
  const waiting = timeline.waitAfter(1, 30_000, new AbortController().signal);
  timeline.add(entry);
  expect((await waiting).map(({ seq }) => seq)).toEqual([2]);
});

test("a wait ends when the client disconnects, or has disconnected", async () => {
  const client = new AbortController();
  const waiting = newTimeline().waitAfter(0, 30_000, client.signal);
  client.abort();
  expect(await waiting).toEqual([]);
  expect(await newTimeline().waitAfter(0, 30_000, client.signal)).toEqual([]);
});

test("a wait ends with the timeline", async () => {
  const timeline = newTimeline();
  const waiting = timeline.waitAfter(0, 30_000, new AbortController().signal);
  timeline.end();
  expect(await waiting).toEqual([]);
});

test("after it has ended, listeners get no entries or changes", () => {
  const told: string[] = [];
  const watched = () => {
    const timeline = newTimeline();
    timeline.listen(() => told.push("entry"));
    timeline.onChange(() => told.push("change"));
    return timeline;
  };
  const happen = (timeline: Timeline) => {
    timeline.add(entry);
    timeline.change();
  };
  happen(watched());
  expect(told.splice(0)).toEqual(["entry", "change"]);
  const ended = watched();
  ended.end();
  happen(ended);
  expect(told).toEqual([]);
});

const TOKEN = "control-token-of-a-test";

test("an entry added during a response is in the next one", async () => {
  const waits: (() => void)[] = [];
  class WatchedTimeline extends Timeline {
    override listen(listener: TimelineListener): () => void {
      const end = super.listen(listener);
      waits.shift()?.();
      return end;
    }
  }
  const timeline = new WatchedTimeline(systemClock);
  const { control } = await runPlatform();
  const api = new ControlApi(endpointsOf(control, timeline), timeline, TOKEN);
  onTestFinished(() => timeline.end());
  const url = await serve((incoming) => api.answer(incoming));
  let last = 0;
  const seen: number[] = [];
  const poll = async () => {
    const response = await fetch(`${url}/control/v1/timeline?after=${last}&waitMs=30000`, {
      headers: { "x-control-token": TOKEN },
    });
    const answer = (await response.json()) as Answer;
    seen.push(...answer.entries.map(({ seq }) => seq));
    last = answer.last;
  };
  // The first entry ends the wait. The second follows `distance` microtasks later.
  for (let distance = 0; distance < 12; distance += 1) {
    const waiting = Promise.withResolvers<void>();
    waits.push(waiting.resolve);
    const polled = poll();
    await waiting.promise;
    timeline.add(entry);
    for (let step = 0; step < distance; step += 1) await undefined;
    timeline.add(entry);
    await polled;
    if (last < timeline.last) await poll();
  }
  expect(seen).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
});

test("a long poll returns the first new entry", async () => {
  const platform = await runPlatform();
  act(platform, "follow");
  const waiting = read(platform, "?after=1&waitMs=30000");
  const [id] = ids(act(platform, "like"));
  const { entries, last } = await waiting;
  expect(entries).toMatchObject([{ seq: 2, id }]);
  expect(last).toBe(2);
});

test("a long poll without a new entry returns an empty list", async () => {
  const platform = await runPlatform();
  expect(await read(platform, "?waitMs=30")).toEqual({ entries: [], last: 0 });
});

test("a long poll does not wait if entries exist", async () => {
  const platform = await runPlatform();
  act(platform, "follow");
  expect((await read(platform, "?after=0&waitMs=30000")).entries).toHaveLength(1);
});

test("a reader with a position from an earlier run immediately gets this run's position", async () => {
  const platform = await runPlatform();
  act(platform, "follow");
  expect(await read(platform, "?after=500&waitMs=30000")).toEqual({ entries: [], last: 1 });
});

test("the newest 10,000 entries are kept", async () => {
  const platform = await runPlatform();
  for (let n = 0; n < 11; n += 1) act(platform, "follow", { count: 1000 });
  const { entries, last } = await read(platform);
  expect(last).toBe(11_000);
  expect(entries).toHaveLength(10_000);
  expect(entries[0]?.seq).toBe(1_001);
  expect((await read(platform, "?after=10999")).entries.map(({ seq }) => seq)).toEqual([11_000]);
});

test("a listener is called with every entry until it unsubscribes", async () => {
  const platform = await runPlatform();
  const seen: TimelineEntry[] = [];
  const end = platform.onTimeline((entry) => seen.push(entry));
  act(platform, "follow", { count: 2 });
  end();
  act(platform, "follow");
  expect(seen.map(({ seq }) => seq)).toEqual([1, 2]);
});

test("waitFor finds past and future entries, and explains a timeout", async () => {
  const platform = await runPlatform();
  const [first] = ids(act(platform, "follow"));
  expect(await platform.waitFor("event")).toMatchObject({ id: first });
  const coming = platform.waitFor("event", ({ type }) => type === "like", { after: 1 });
  act(platform, "follow");
  const [like] = ids(act(platform, "like", {}));
  expect(await coming).toMatchObject({ id: like });
  const never = platform.waitFor("delivery", undefined, { timeoutMs: 10 });
  await expect(never).rejects.toThrow(
    /10 ms passed before a matching delivery entry arrived.*\n.*like/s,
  );
});

test("waiting ends when the platform stops", async () => {
  const platform = await runPlatform();
  const waiting = platform.waitFor("delivery");
  const ended = expect(waiting).rejects.toThrow(/stopped/);
  await platform.stop();
  await ended;
  await expect(platform.waitFor("delivery")).rejects.toThrow(/stopped/);
});
