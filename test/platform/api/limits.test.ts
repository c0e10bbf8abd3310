import { join } from "node:path";
import { expect, test } from "vitest";
import type { LimitsView } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ManualClock } from "../support/clock.ts";
import { type Answer, type ErrorBody, request, runPlatform } from "../support/platform.ts";

type Running = Parameters<typeof request>[0];

const post = (platform: Running) =>
  request(platform, "POST", "/api/v1/posts", { body: { text: "hi" } });

function put(platform: Running, body: unknown): Promise<Answer<LimitsView & ErrorBody>> {
  return request(platform, "PUT", "/control/v1/limits", { body });
}

test("the control API shows every limit with its usage", async () => {
  const clock = new ManualClock(Date.UTC(2030, 0, 31, 23, 30));
  const platform = await runPlatform({ clock });
  await post(platform);
  const resetsAt = "2030-02-01T00:00:00.000Z";
  platform.control.apps.create({ username: "other" });
  const get = (query = "") => request(platform, "GET", `/control/v1/limits${query}`);
  const { status, body } = await get();
  expect(status).toBe(200);
  expect(body).toEqual({
    requestsPerMinute: { limit: null, used: 1, resetsAt: "2030-01-31T23:31:00.000Z" },
    uploadsPerDay: { limit: null, used: 0, resetsAt },
    postsPerDay: { limit: null, used: 1, resetsAt },
    commentsPerDay: { limit: null, used: 0, resetsAt },
    dmsPerDay: { limit: null, used: 0, resetsAt },
  });
  expect((await get("?bot=other")).body).toMatchObject({ postsPerDay: { used: 0 } });
});

test("the named limits change immediately, and keep the usage", async () => {
  const platform = await runPlatform({ limits: { dmsPerDay: 7 } });
  await post(platform);
  expect(await put(platform, { postsPerDay: 1 })).toMatchObject({
    status: 200,
    body: { postsPerDay: { limit: 1, used: 1 }, dmsPerDay: { limit: 7 } },
  });
  expect((await post(platform)).status).toBe(429);
  await put(platform, { postsPerDay: null });
  expect((await post(platform)).status).toBe(201);
});

test("usage survives a restart on the same day", async () => {
  const clock = new ManualClock();
  const options = {
    clock,
    stateFile: join(temporaryFolder(), "state.db"),
    limits: { postsPerDay: 1 },
  };
  const first = await runPlatform(options);
  await post(first);
  await first.stop();
  const second = await runPlatform(options);
  expect((await post(second)).status).toBe(429);
  clock.advance(86_400_000);
  expect((await post(second)).status).toBe(201);
});
