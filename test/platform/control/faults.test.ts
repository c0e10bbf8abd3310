import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { request, runPlatform, timeline } from "../support/platform.ts";

function comment(platform: Platform, text: string, signal?: AbortSignal) {
  const options = signal === undefined ? {} : { signal };
  return request(platform, "POST", "/api/v1/posts/p_1/comments", { body: { text }, ...options });
}

function texts(platform: Platform): string[] {
  return platform.control.comments("p_1").map(({ text }) => text);
}

async function held(platform: Platform, count: number): Promise<void> {
  let seen = 0;
  await platform.waitFor("fault", ({ change }) => {
    if (change === "held") seen += 1;
    return seen === count;
  });
}

test("there are no faults at first", async () => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", "/control/v1/faults");
  expect(status).toBe(200);
  expect(body).toEqual({
    webhook: { mode: "none", status: 500, delayMs: 1_000 },
    api: { mode: "none", match: "all", status: 503, delayMs: 3_000, held: 0 },
    events: { mode: "none", lateMs: 0, held: 0 },
  });
});

test("held requests wait, and are executed once the fault is changed", async () => {
  const platform = await runPlatform();
  await request(platform, "PUT", "/control/v1/faults", { body: { api: { mode: "hold" } } });
  const answers = [comment(platform, "one"), request(platform, "GET", "/api/v1/me")];
  await held(platform, 2);
  expect(platform.control.faults.api).toMatchObject({ mode: "hold", held: 2 });
  expect(texts(platform)).toEqual([]);
  await request(platform, "PUT", "/control/v1/faults", { body: { webhook: { mode: "none" } } });
  expect(platform.control.faults.api.held).toBe(2);
  await request(platform, "PUT", "/control/v1/faults", { body: { api: { mode: "none" } } });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 200]);
  expect(texts(platform)).toEqual(["one"]);
  const entry = await platform.waitFor("api", ({ status }) => status === 201);
  expect(entry.fault).toBe("hold");
});

test("a held request whose client goes away is never executed", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "hold", match: "write" } });
  const client = new AbortController();
  const [gone, stays] = [comment(platform, "gone", client.signal), comment(platform, "stays")];
  await held(platform, 2);
  client.abort();
  await expect(gone).rejects.toThrow(/abort/i);
  const entry = await platform.waitFor("api", ({ status }) => status === null);
  expect(entry).toMatchObject({ method: "POST", text: "gone", fault: "hold" });
  expect(entry).not.toHaveProperty("created");
  expect(platform.control.faults.api.held).toBe(1);
  platform.control.setFaults({ api: { mode: "none" } });
  expect((await stays).status).toBe(201);
  expect(texts(platform)).toEqual(["stays"]);
});

test("a slow API executes a request after its delay, or as soon as the fault ends", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "slow", delayMs: 60, match: "write" } });
  expect((await request(platform, "GET", "/api/v1/me")).status).toBe(200);
  expect((await comment(platform, "one")).status).toBe(201);
  const slow = await platform.waitFor("api", ({ text }) => text === "one");
  expect(slow.fault).toBe("slow");
  expect(slow.ms).toBeGreaterThanOrEqual(59);
  platform.control.setFaults({ api: { mode: "slow", delayMs: 86_400_000 } });
  const client = new AbortController();
  const [gone, stays] = [comment(platform, "gone", client.signal), comment(platform, "stays")];
  await expect.poll(() => platform.control.faults.api.held).toBe(2);
  client.abort();
  await expect(gone).rejects.toThrow(/abort/i);
  await platform.waitFor("api", ({ text, status }) => text === "gone" && status === null);
  platform.control.setFaults({ api: { mode: "none" } });
  expect((await stays).status).toBe(201);
  expect(texts(platform)).toEqual(["one", "stays"]);
});

test("a hold for one request lets the next one through and keeps the first", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "hold", times: 1 } });
  const first = comment(platform, "first");
  await held(platform, 1);
  expect((await comment(platform, "second")).status).toBe(201);
  expect(platform.control.faults.api).toMatchObject({ mode: "none", held: 1 });
  platform.control.setFaults({ api: { mode: "none" } });
  await first;
  expect(texts(platform)).toEqual(["second", "first"]);
});

test("requests during a status fault get that status and are not executed", async () => {
  const platform = await runPlatform();
  const api = { mode: "status", status: 429, retryAfterSeconds: 7, times: 2 };
  await request(platform, "PUT", "/control/v1/faults", { body: { api } });
  const refused = await comment(platform, "one");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("7");
  expect(refused.body.error.code).toBe("RATE_LIMITED");
  expect(platform.control.faults.api).toMatchObject({ mode: "status", times: 1 });
  expect((await request(platform, "GET", "/api/v1/me")).status).toBe(429);
  await platform.waitFor("fault", ({ change }) => change === "ended");
  expect((await comment(platform, "two")).status).toBe(201);
  expect(texts(platform)).toEqual(["two"]);
});

test("a status fault is 503 unless it names another status", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "status" } });
  const { status, headers, body } = await request(platform, "GET", "/api/v1/me");
  expect(status).toBe(503);
  expect(headers.get("retry-after")).toBe("0");
  expect(body.error.code).toBe("INJECTED_FAULT");
});

test("a fault on write requests does not affect reads", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "status", match: "write" } });
  expect((await request(platform, "GET", "/api/v1/me")).status).toBe(200);
  expect((await comment(platform, "one")).status).toBe(503);
});

test("a request whose response is lost has been executed", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "lose-answer", match: "write", times: 1 } });
  await expect(comment(platform, "one")).rejects.toThrow();
  expect(texts(platform)).toEqual(["one"]);
  const entry = await platform.waitFor("api");
  expect(entry).toMatchObject({
    method: "POST",
    status: null,
    text: "one",
    fault: "lose-answer",
    created: { postId: "p_1", commentId: "cm_1" },
  });
  expect((await comment(platform, "two")).status).toBe(201);
});

test("a request with a gateway's response has been executed, and the response is an HTML page", async () => {
  const platform = await runPlatform();
  const fault = { mode: "gateway", match: "write", times: 1, retryAfterSeconds: 3 } as const;
  platform.control.setFaults({ api: fault });
  const url = `${platform.url}/api/v1/posts/p_1/comments`;
  const headers = {
    authorization: `Bearer ${platform.apiKey}`,
    "content-type": "application/json",
  };
  const response = await fetch(url, { method: "POST", headers, body: '{"text":"one"}' });
  expect(response.status).toBe(503);
  expect(response.headers.get("content-type")).toMatch(/^text\/html/);
  expect(response.headers.get("retry-after")).toBe("3");
  expect(await response.text()).toMatch(/^<html>/);
  expect(texts(platform)).toEqual(["one"]);
  const entry = await platform.waitFor("api");
  expect(entry).toMatchObject({ status: 503, fault: "gateway", created: { commentId: "cm_1" } });
});

test("a fault with a rate affects the requests whose random number is below the rate", async () => {
  const draws = [0.1, 0.3, 0.29, 0.9];
  const platform = await runPlatform({ random: () => draws.shift() ?? 1 });
  platform.control.setFaults({ api: { mode: "status", rate: 0.3 } });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await comment(platform, `text ${i}`)).status);
  expect(statuses).toEqual([503, 201, 503, 201]);
});

test("a mix responds with 429, 500 or 503, or executes the request and loses the response", async () => {
  const draws = [0, 0.25, 0.5, 0.75];
  const platform = await runPlatform({ random: () => draws.shift() ?? 0 });
  platform.control.setFaults({ api: { mode: "mix" } });
  for (const status of [429, 500, 503]) {
    expect((await comment(platform, "refused")).status).toBe(status);
  }
  await expect(comment(platform, "one")).rejects.toThrow();
  expect(texts(platform)).toEqual(["one"]);
});

test("faults do not affect the control API", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "status" } });
  expect((await request(platform, "GET", "/control/v1/state")).status).toBe(200);
});

test("the start and end of a fault are in the timeline", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({
    api: { mode: "status", times: 1 },
    webhook: { mode: "status", times: 3 },
    events: { mode: "late", lateMs: 250, rate: 0.5 },
  });
  await request(platform, "GET", "/api/v1/me");
  expect(await timeline(platform)).toMatchObject([
    {
      kind: "fault",
      target: "events",
      change: "set",
      detail: "late by 250 ms for 50 % of all events",
    },
    {
      kind: "fault",
      target: "webhook",
      change: "set",
      detail: "status 500 for the next 3 deliveries",
    },
    { kind: "fault", target: "api", change: "set", detail: "status 503 for the next request" },
    { kind: "fault", target: "api", change: "ended" },
    { kind: "api", method: "GET", path: "/me", status: 503, fault: "status" },
  ]);
});
