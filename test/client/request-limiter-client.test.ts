import { describe, expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";
import { rejection } from "./api.ts";

const START = 1_800_000_000_000;

function scene(perMinute: number | undefined, { lastsMs = 0 } = {}) {
  const clock = new ManualClock(START);
  const calls: string[] = [];
  const state: { respond: () => Response } = {
    respond: () =>
      Response.json({ username: "bot", events: [], cursor: "1", id: "1", items: [], key: "k" }),
  };
  const client = new Client({
    retries: 0,
    baseUrl: "http://platform.test",
    apiKey: "key",
    clock,
    random: () => 1,
    maxRequestsPerMinute: perMinute,
    fetch: async (url, init) => {
      const { pathname } = new URL(url);
      calls.push(`${init.method} ${pathname.replace("/api/v1", "")} at ${clock.now() - START}`);
      if (lastsMs > 0) {
        await new Promise<void>((resolve, reject) => {
          clock.timer(lastsMs, resolve);
          init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        });
      }
      return state.respond();
    },
  });
  const use = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await client.me().catch(() => undefined);
    calls.length = 0;
  };
  return { clock, calls, state, client, use };
}

const away = () => Response.json({}, { status: 503 });
const unreachable = () => {
  throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
};

describe("a client with a budget", () => {
  test("sends this many requests a minute of any kind, and refuses more", async () => {
    const { client, clock, calls } = scene(3);
    await client.me();
    await client.events({}, { purpose: "audit" });
    await client.feed().catch(() => undefined);
    expect(client.requests).toEqual({ perMinute: 3, left: 0, waiting: 0 });
    expect(await rejection(client.me())).toMatchObject({
      code: "API_BUDGET_SPENT",
      sent: false,
      retryAfterMs: 60_000,
    });
    expect(calls).toHaveLength(3);
    await clock.advance(60_000);
    await client.me();
    expect(calls).toHaveLength(4);
  });

  test("counts a request from its end, also where its deadline ended it", async () => {
    const { client, clock } = scene(1, { lastsMs: 60_000 });
    const ended = rejection(client.me());
    await clock.advance(10_000);
    expect(await ended).toMatchObject({ code: "API_TIMEOUT" });
    await clock.advance(59_999);
    expect(client.requests?.left).toBe(0);
    await clock.advance(1);
    expect(client.requests?.left).toBe(1);
  });

  test("sends a handler's requests, the audit and the polling in this order", async () => {
    const { client, clock, calls, use } = scene(4);
    await use(4);
    await clock.advance(56_000);
    void client.events({}, { purpose: "poll" });
    void client.events({}, { purpose: "audit" });
    void client.me();
    void client.posts.create({ text: "hi" }).catch(() => undefined);
    // A write checks its images before it sends a request.
    await clock.advance(0);
    expect(client.requests).toEqual({ perMinute: 4, left: 0, waiting: 4 });
    await clock.advance(4_000);
    expect(calls).toEqual(["POST /posts", "GET /me", "GET /events"].map((c) => `${c} at 60000`));
    await clock.advance(56_000);
    expect(calls[3]).toBe("GET /events at 116000");
  });

  test("does not count what never reached the platform", async () => {
    const { client, state } = scene(3);
    state.respond = unreachable;
    for (let i = 0; i < 4; i++) await rejection(client.me());
    expect(client.requests?.left).toBe(3);
    state.respond = away;
    await rejection(client.me());
    expect(client.requests?.left).toBe(2);
  });

  test("takes no place for what the breaker keeps back, and does not let it wait", async () => {
    const { client, state, calls } = scene(5);
    state.respond = away;
    for (let i = 0; i < 5; i++) await rejection(client.me());
    expect(calls).toHaveLength(5);
    // The budget is used up and the platform is down. The error must name the platform.
    expect(await rejection(client.me())).toMatchObject({ code: "API_CIRCUIT_OPEN" });
    const audit = rejection(client.events({}, { purpose: "audit" }));
    expect(await audit).toMatchObject({ code: "API_CIRCUIT_OPEN" });
    expect(client.requests).toEqual({ perMinute: 5, left: 0, waiting: 0 });
  });

  test("does not hold a trial of the platform while it waits, and gives the place back without one", async () => {
    const { client, clock, state, calls } = scene(5);
    state.respond = away;
    for (let i = 0; i < 5; i++) await rejection(client.me());
    calls.length = 0;
    await clock.advance(56_000);
    state.respond = () => Response.json({ username: "bot" });
    const poll = rejection(client.events({}, { purpose: "poll" }));
    const first = client.me();
    await clock.advance(4_000);
    // The later read has priority and becomes the trial. By now the poll has a permit, but may not use it.
    expect(await first).toMatchObject({ username: "bot" });
    expect(calls).toEqual(["GET /me at 60000"]);
    expect(await poll).toMatchObject({ code: "API_CIRCUIT_OPEN" });
    expect(client.requests).toEqual({ perMinute: 5, left: 4, waiting: 0 });
  });

  test("reports how long a call can take, including the wait", async () => {
    const { client, clock, use } = scene(1, { lastsMs: 60_000 });
    const used = use(1);
    await clock.advance(10_000);
    await used;
    await clock.advance(55_000);
    const began = clock.now();
    const ended = rejection(client.me()).then((error) => ({ error, after: clock.now() - began }));
    await clock.advance(60_000);
    expect(await ended).toMatchObject({ error: { code: "API_TIMEOUT" }, after: 15_000 });
    expect(client.longestCallMs).toBe(15_000);
    expect(scene(undefined).client.longestCallMs).toBe(10_000);
  });
});

test("a client without a budget sends every request", async () => {
  const { client, calls } = scene(undefined);
  for (let i = 0; i < 200; i++) await client.me();
  expect(calls).toHaveLength(200);
  expect(client.requests).toBeUndefined();
});
