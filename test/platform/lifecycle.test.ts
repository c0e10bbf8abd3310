import { expect, test } from "vitest";
import { startPlatform } from "../faces/platform.ts";
import { act, ids, request, runPlatform } from "./support/platform.ts";
import { runWithWebhook } from "./support/receiver.ts";

test("a platform uses a free port and reports its URL", async () => {
  const [one, other] = [await runPlatform(), await runPlatform()];
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(one.url).not.toBe(other.url);
  expect((await request(one, "GET", "/control/v1/state")).status).toBe(200);
});

test("a port in use is named in the error", async () => {
  const platform = await runPlatform();
  const port = Number(new URL(platform.url).port);
  await expect(startPlatform({ port })).rejects.toMatchObject({
    code: "ADDRESS_IN_USE",
    message: expect.stringContaining(String(port)),
  });
});

test("stopping twice is harmless, and no request succeeds afterwards", async () => {
  const platform = await runPlatform();
  await Promise.all([platform.stop(), platform.stop()]);
  await platform.stop();
  await expect(fetch(platform.url)).rejects.toThrow();
});

test("stopping does not wait for held requests, long polls or deliveries", async () => {
  const { platform } = await runWithWebhook(() => {});
  platform.control.setFaults({ api: { mode: "hold", match: "write" } });
  const post = request(platform, "POST", "/api/v1/posts", { body: { text: "held" } });
  const refused = expect(post).rejects.toThrow();
  await platform.waitFor("fault", ({ change }) => change === "held");
  const { timelineSeq } = platform.control.state();
  const poll = request(platform, "GET", `/control/v1/timeline?after=${timelineSeq}&waitMs=30000`);
  const settled = Promise.allSettled([poll]);
  const [id = ""] = ids(act(platform, "follow"));
  const repeat = platform.control.deliver({ eventIds: [id], times: 3 });
  await platform.stop();
  await refused;
  await settled;
  expect(await repeat).toMatchObject([{ status: null, error: "the platform stopped" }]);
});
