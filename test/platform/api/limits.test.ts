import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LimitName, LimitsView, Platform } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ManualClock } from "../support/clock.ts";
import { image, newKeys, uploadBytes } from "../support/images.ts";
import { act, request, runPlatform, tokenWith } from "../support/platform.ts";
import { startWithDownloads } from "../uploads/start.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Half an hour before midnight UTC. */
const HALF_PAST_ELEVEN = Date.UTC(2030, 0, 31, 23, 30);

interface Quota {
  readonly name: Exclude<LimitName, "requestsPerMinute">;
  readonly write: (
    platform: Platform,
  ) => Promise<{ status: number; headers: Headers; body: unknown }>;
}

const post = (path: string) => (platform: Platform) =>
  request<unknown>(platform, "POST", `/api/v1${path}`, { body: { text: "hi" } });

const quotas: readonly Quota[] = [
  {
    name: "uploadsPerDay",
    write: async (platform) => uploadBytes<unknown>(platform, await image()),
  },
  { name: "postsPerDay", write: post("/posts") },
  { name: "commentsPerDay", write: post("/posts/p_1/comments") },
  { name: "dmsPerDay", write: post("/dm/conversations/c_2/messages") },
];

async function run(clock: ManualClock, limits: Partial<Record<LimitName, number>> = {}) {
  const platform = await runPlatform({ clock, limits });
  act(platform, "dm.message");
  return platform;
}

describe.each(quotas)("$name", ({ name, write }) => {
  test("is used up by successes, until midnight UTC", async () => {
    const clock = new ManualClock(HALF_PAST_ELEVEN);
    const platform = await run(clock, { [name]: 2 });
    const written = [await write(platform), await write(platform)];
    expect(written.every(({ status }) => status < 300)).toBe(true);
    const refused = await write(platform);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: "QUOTA_EXCEEDED" } });
    expect(refused.headers.get("retry-after")).toBe("1800");
    expect(platform.control.limits[name]).toEqual({
      limit: 2,
      used: 2,
      resetsAt: "2030-02-01T00:00:00.000Z",
    });
    clock.advance(30 * MINUTE_MS);
    expect((await write(platform)).status).toBeLessThan(300);
    expect(platform.control.limits[name].used).toBe(1);
  });

  test("is unlimited unless it is set, but is counted", async () => {
    const platform = await run(new ManualClock());
    await write(platform);
    expect(platform.control.limits[name]).toMatchObject({ limit: null, used: 1 });
  });

  test("of 0 rejects every call, and does not affect other quotas", async () => {
    const platform = await run(new ManualClock(), { [name]: 0 });
    for (const other of quotas) {
      const { status } = await other.write(platform);
      expect(status === 429, other.name).toBe(other.name === name);
    }
  });
});

// The bots of other apps have no conversations, so they cannot send messages.
test.each(quotas.filter(({ name }) => name !== "dmsPerDay"))(
  "$name is counted per app",
  async ({ name, write }) => {
    const platform = await run(new ManualClock(), { [name]: 1 });
    const token = platform.control.createToken(["posts:write", "comments:write"], "other").apiKey;
    const bytes = await image();
    const path = name === "postsPerDay" ? "/api/v1/posts" : "/api/v1/posts/p_1/comments";
    const byOther = async () =>
      name === "uploadsPerDay"
        ? uploadBytes<unknown>(platform, bytes, { token })
        : request<unknown>(platform, "POST", path, { token, body: { text: "hi" } });
    expect((await byOther()).status).toBeLessThan(300);
    expect((await byOther()).status).toBe(429);
    expect((await write(platform)).status).toBeLessThan(300);
    expect((await write(platform)).status).toBe(429);
  },
);

test("an app's tokens share its quota", async () => {
  const platform = await run(new ManualClock(), { postsPerDay: 1 });
  await post("/posts")(platform);
  const token = tokenWith(platform, "posts:write");
  const body = { text: "hi" };
  expect((await request(platform, "POST", "/api/v1/posts", { token, body })).status).toBe(429);
});

test("a rejected call does not count, and consumes no key", async () => {
  const platform = await run(new ManualClock(), { postsPerDay: 1 });
  const body = async (more: object) => {
    return request(platform, "POST", "/api/v1/posts", { body: more });
  };
  await body({});
  await body({ imageKeys: ["nothing"] });
  expect(platform.control.limits.postsPerDay.used).toBe(0);
  const imageKeys = await newKeys(platform, 1);
  await body({ text: "one" });
  expect((await body({ imageKeys })).status).toBe(429);
  platform.control.setLimits({ postsPerDay: null });
  expect((await body({ imageKeys })).status).toBe(201);
});

test("an app whose uploads are used up downloads no image", async () => {
  const asked: string[] = [];
  const platform = await startWithDownloads(
    (response, path) => {
      asked.push(path);
      response.end();
    },
    { limits: { uploadsPerDay: 0 } },
  );
  const body = { url: "https://images.example/a.png" };
  expect((await request(platform, "POST", "/api/v1/uploads", { body })).status).toBe(429);
  expect(asked).toEqual([]);
});

test("usage survives a restart on the same day", async () => {
  const clock = new ManualClock();
  const stateFile = join(temporaryFolder(), "state.db");
  const options = { clock, stateFile, limits: { postsPerDay: 1 } };
  const first = await runPlatform(options);
  await post("/posts")(first);
  await first.stop();
  const second = await runPlatform(options);
  expect((await post("/posts")(second)).status).toBe(429);
  clock.advance(DAY_MS);
  expect((await post("/posts")(second)).status).toBe(201);
});

describe("requestsPerMinute", () => {
  const me = (platform: Platform, token = platform.apiKey) =>
    request<unknown>(platform, "GET", "/api/v1/me", { token });

  test("counts every request of the app, until the next minute begins", async () => {
    const clock = new ManualClock(HALF_PAST_ELEVEN + 20_500);
    const platform = await run(clock, { requestsPerMinute: 5 });
    const noScope = tokenWith(platform, "dm");
    const statuses = [
      (await me(platform)).status,
      (await request(platform, "GET", "/api/v1/events?since=")).status,
      (await request(platform, "GET", "/api/v1/nothing")).status,
      (await request(platform, "POST", "/api/v1/posts", { body: {} })).status,
      (await me(platform, noScope)).status,
    ];
    expect(statuses).toEqual([200, 200, 404, 400, 403]);
    const refused = await me(platform, tokenWith(platform, "read"));
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: "RATE_LIMITED" } });
    // 39.5 seconds are left, so a client that waited only 39 would be rejected again.
    expect(refused.headers.get("retry-after")).toBe("40");
    clock.advance(39_500);
    expect((await me(platform)).status).toBe(200);
    expect(platform.control.limits.requestsPerMinute).toEqual({
      limit: 5,
      used: 1,
      resetsAt: "2030-01-31T23:32:00.000Z",
    });
  });

  test("does not execute a rejected request", async () => {
    const platform = await run(new ManualClock(), { requestsPerMinute: 0 });
    expect((await post("/posts")(platform)).status).toBe(429);
    expect(platform.control.limits.postsPerDay.used).toBe(0);
  });

  test("counts neither unauthenticated requests nor those of /control/v1", async () => {
    const platform = await run(new ManualClock(), { requestsPerMinute: 1 });
    expect((await me(platform, "sbk_wrong")).status).toBe(401);
    await request(platform, "GET", "/control/v1/state");
    expect((await me(platform)).status).toBe(200);
  });

  test("is counted per app", async () => {
    const platform = await run(new ManualClock(), { requestsPerMinute: 1 });
    await me(platform);
    const other = platform.control.createToken(["read"], "other").apiKey;
    expect((await me(platform, other)).status).toBe(200);
    expect((await me(platform, other)).status).toBe(429);
  });
});

describe("/control/v1/limits", () => {
  test("shows every limit with its usage", async () => {
    const clock = new ManualClock(HALF_PAST_ELEVEN);
    const platform = await run(clock);
    await post("/posts")(platform);
    const resetsAt = "2030-02-01T00:00:00.000Z";
    const { status, body } = await request(platform, "GET", "/control/v1/limits");
    expect(status).toBe(200);
    expect(body).toEqual({
      requestsPerMinute: { limit: null, used: 1, resetsAt: "2030-01-31T23:31:00.000Z" },
      uploadsPerDay: { limit: null, used: 0, resetsAt },
      postsPerDay: { limit: null, used: 1, resetsAt },
      commentsPerDay: { limit: null, used: 0, resetsAt },
      dmsPerDay: { limit: null, used: 0, resetsAt },
    });
  });

  test("changes the named limits immediately, and keeps the usage", async () => {
    const platform = await run(new ManualClock(), { dmsPerDay: 7 });
    await post("/posts")(platform);
    const put = (body: unknown) =>
      request<LimitsView>(platform, "PUT", "/control/v1/limits", { body });
    const set = await put({ postsPerDay: 1 });
    expect(set.status).toBe(200);
    expect(set.body).toMatchObject({ postsPerDay: { limit: 1, used: 1 }, dmsPerDay: { limit: 7 } });
    expect((await post("/posts")(platform)).status).toBe(429);
    await put({ postsPerDay: null });
    expect((await post("/posts")(platform)).status).toBe(201);
  });

  test.each([{ postsPerDay: -1 }, { postsPerDay: 1.5 }, { postsPerDay: "1" }, { posts: 1 }])(
    "rejects %j",
    async (body) => {
      const platform = await run(new ManualClock());
      const answer = await request(platform, "PUT", "/control/v1/limits", { body });
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe("VALIDATION");
    },
  );
});
