import { expect, test } from "vitest";
import type { KnownEvent } from "../../faces/events.ts";
import type { Platform } from "../../faces/platform.ts";
import { act, ids, request, runPlatform, tokenWith } from "../support/platform.ts";

interface Page {
  readonly events: readonly KnownEvent[];
  readonly cursor: string;
}

async function poll(platform: Platform, query = "", token = platform.apiKey): Promise<Page> {
  const { status, body } = await request<Page>(platform, "GET", `/api/v1/events${query}`, {
    token,
  });
  expect(status).toBe(200);
  return body;
}

async function follow(platform: Platform, token: string, query = "?limit=3"): Promise<string[]> {
  const seen: string[] = [];
  let { events, cursor } = await poll(platform, query, token);
  while (events.length > 0) {
    seen.push(...events.map((event) => event.id));
    ({ events, cursor } = await poll(platform, `?limit=3&since=${cursor}`, token));
  }
  return seen;
}

test("events have ordered text ids, a type, a payload and a time in UTC", async () => {
  const platform = await runPlatform();
  act(platform, "follow", { count: 12 });
  const { events } = await poll(platform);
  expect(events[0]?.id).toBe("evt_000000000001");
  expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).sort());
  expect(Object.keys(events[0] ?? {})).toEqual(["id", "type", "payload", "createdAt"]);
  expect(events[0]?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("without since, reading starts at the oldest event and pages forward", async () => {
  const platform = await runPlatform();
  const all = ids(act(platform, "like", { count: 7 }));
  const first = await poll(platform, "?limit=3");
  expect(first.events.map(({ id }) => id)).toEqual(all.slice(0, 3));
  expect(first.cursor).toBe(all[2]);
  expect(await follow(platform, platform.apiKey)).toEqual(all);
});

test("the event named by since is not among the results", async () => {
  const platform = await runPlatform();
  const [first, second] = ids(act(platform, "like", { count: 2 }));
  const { events } = await poll(platform, `?since=${first}`);
  expect(events.map(({ id }) => id)).toEqual([second]);
});

test("without new events, the cursor equals the given since", async () => {
  const platform = await runPlatform();
  const [first, last] = ids(act(platform, "like", { count: 2 }));
  expect(await poll(platform, `?since=${last}`)).toEqual({ events: [], cursor: last });
  expect((await poll(platform, `?since=${first}`)).cursor).toBe(last);
  const ahead = "evt_000000009999";
  expect(await poll(platform, `?since=${ahead}`)).toEqual({ events: [], cursor: ahead });
});

test("an empty since returns no events and the current cursor", async () => {
  const platform = await runPlatform();
  const [, last] = ids(act(platform, "like", { count: 2 }));
  const present = await poll(platform, "?since=");
  expect(present).toEqual({ events: [], cursor: last });
  const later = ids(act(platform, "follow"));
  const { events } = await poll(platform, `?since=${present.cursor}`);
  expect(events.map(({ id }) => id)).toEqual(later);
});

test.each(["?since=", ""])(
  "the cursor of an empty log (%j) works as since later",
  async (query) => {
    const platform = await runPlatform();
    const { events, cursor } = await poll(platform, query);
    expect(events).toEqual([]);
    expect(cursor).not.toBe("");
    expect((await poll(platform, `?since=${cursor}`)).cursor).toBe(cursor);
    const later = ids(act(platform, "dm.message"));
    const next = await poll(platform, `?since=${cursor}`);
    expect(next.events.map(({ id }) => id)).toEqual(later);
  },
);

test("a token without dm sees no dm.message, and one without read sees nothing else", async () => {
  const platform = await runPlatform();
  const dm = ids(act(platform, "dm.message"));
  const like = ids(act(platform, "like"));
  const seen = async (token: string) =>
    (await poll(platform, "", token)).events.map(({ id }) => id);
  expect(await seen(tokenWith(platform, "read", "dm"))).toEqual([...dm, ...like]);
  expect(await seen(tokenWith(platform, "read"))).toEqual(like);
  expect(await seen(tokenWith(platform, "dm"))).toEqual(dm);
});

test("a reader that follows the cursor gets past long runs of hidden events, and skips no visible event", async () => {
  const platform = await runPlatform();
  const likes: string[] = [];
  const messages: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    messages.push(...ids(act(platform, "dm.message", { count: 60 })));
    likes.push(...ids(act(platform, "like", { count: round + 1 })));
  }
  expect(await follow(platform, tokenWith(platform, "read"))).toEqual(likes);
  expect(await follow(platform, tokenWith(platform, "dm"), "?limit=50")).toEqual(messages);
});

test("events a reader may not see do not move its cursor", async () => {
  const platform = await runPlatform();
  const [like] = ids(act(platform, "like"));
  act(platform, "dm.message", { count: 5 });
  const token = tokenWith(platform, "read");
  expect(await poll(platform, `?since=${like}`, token)).toEqual({ events: [], cursor: like });
  const later = ids(act(platform, "follow"));
  expect(await poll(platform, `?since=${like}`, token)).toMatchObject({
    events: [{ id: later[0] }],
    cursor: later[0],
  });
});

test.each(["1", "50"])("limit=%s is valid", async (limit) => {
  const platform = await runPlatform();
  act(platform, "like", { count: 60 });
  expect((await poll(platform, `?limit=${limit}`)).events).toHaveLength(Number(limit));
});

test("a page without a limit has 20 events", async () => {
  const platform = await runPlatform();
  act(platform, "like", { count: 30 });
  expect((await poll(platform)).events).toHaveLength(20);
});

test.each([
  "limit=0",
  "limit=51",
  "limit=-1",
  "limit=1.5",
  "limit=ten",
  "limit=",
  "limit=5&limit=6",
  "limit=0&since=",
  "since=1",
  "since=evt_1",
  "since=evt_000000000001x",
  "since=evt_000000000001&since=evt_000000000002",
])("%s gets 400 VALIDATION", async (query) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", `/api/v1/events?${query}`);
  expect(status).toBe(400);
  expect(body.error.code).toBe("VALIDATION");
});
