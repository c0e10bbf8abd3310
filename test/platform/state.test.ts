import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../faces/errors.ts";
import { startPlatform } from "../faces/platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ManualClock } from "./support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform, tokenWith } from "./support/platform.ts";
import { runReceiver, statuses } from "./support/receiver.ts";

/** The platform creates the file's folder. */
const newStateFile = () => join(temporaryFolder(), "state", "dev.db");

test("secrets are generated, and survive a restart", async () => {
  const stateFile = newStateFile();
  const first = await runPlatform({ stateFile });
  const { apiKey, webhookSecret } = first;
  expect(apiKey).toMatch(/^sbk_[0-9a-f]{48}$/);
  expect(webhookSecret).toMatch(/^whsec_[0-9a-f]{48}$/);
  const limited = tokenWith(first, "read");
  await first.stop();
  const second = await runPlatform({ stateFile });
  expect(second).toMatchObject({ apiKey, webhookSecret });
  expect((await request(second, "GET", "/api/v1/me")).status).toBe(200);
  expect((await request(second, "GET", "/api/v1/me", { token: limited })).status).toBe(200);
});

test("options override the state file's secrets", async () => {
  const stateFile = newStateFile();
  const first = await runPlatform({ stateFile });
  const before = first.apiKey;
  await first.stop();
  const chosen = { apiKey: "sbk_mine", webhookSecret: "whsec_mine" };
  const second = await runPlatform({ stateFile, ...chosen });
  expect(second).toMatchObject(chosen);
  expect((await request(second, "GET", "/api/v1/me")).status).toBe(200);
  expect((await request(second, "GET", "/api/v1/me", { token: before })).status).toBe(401);
});

test("events, conversations and the webhook survive a restart; ids continue", async () => {
  const stateFile = newStateFile();
  const first = await runPlatform({ stateFile });
  const before = act(first, "dm.message", { text: "hi" });
  first.control.saveWebhook({ url: "https://example.org/", types: ["follow"] });
  const webhook = first.control.webhook;
  await first.stop();
  const second = await runPlatform({ stateFile });
  expect(second.control.events()).toEqual(before.events);
  expect(second.control.webhook).toEqual(webhook);
  const after = act(second, "dm.message");
  expect(after.conversationId).toBe(before.conversationId);
  expect(ids(after)).toEqual(["evt_000000000002"]);
});

test("events pending at the stop are delivered after the restart", async () => {
  const stateFile = newStateFile();
  const receiver = await runReceiver(statuses(500));
  const first = await runPlatform({ stateFile, clock: new ManualClock() });
  first.control.saveWebhook({ url: receiver.url });
  const [one = ""] = ids(act(first, "follow"));
  await deliveryOf(first, one);
  const [two = ""] = ids(act(first, "like"));
  await first.stop();
  const second = await runPlatform({ stateFile });
  expect(await deliveryOf(second, two, { attempt: 2 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[one], [one, two]]);
  await second.stop();
  const third = await runPlatform({ stateFile });
  const [next = ""] = ids(act(third, "follow"));
  await deliveryOf(third, next);
  expect(receiver.batches()).toEqual([[one], [one, two], [next]]);
});

test("a delivery interrupted by the stop does not count as failed, and is retried", async () => {
  const stateFile = newStateFile();
  const first = await runPlatform({ stateFile, disableAfter: 1 });
  const arrival = Promise.withResolvers<void>();
  const receiver = await runReceiver((response, nth) => {
    arrival.resolve();
    if (nth > 1) response.writeHead(200).end();
  });
  first.control.saveWebhook({ url: receiver.url });
  const all = ids(act(first, "follow"));
  await arrival.promise;
  await first.stop();
  const second = await runPlatform({ stateFile, disableAfter: 1 });
  expect(await deliveryOf(second, all[0] ?? "")).toMatchObject({ attempt: 1, status: 200 });
  expect(receiver.batches()).toEqual([all, all]);
});

test("a state file serves one platform at a time", async () => {
  const stateFile = newStateFile();
  const first = await runPlatform({ stateFile });
  await expect(startPlatform({ stateFile })).rejects.toThrow(
    `another platform uses ${stateFile}; stop it, or choose another file`,
  );
  await first.stop();
  await runPlatform({ stateFile });
});

test.each([
  [{ port: -1 }, "port"],
  [{ port: 1.5 }, "port"],
  [{ retryIntervalMs: 0 }, "retryIntervalMs"],
  [{ disableAfter: 0 }, "disableAfter"],
  [{ deliveryTimeoutMs: Number.NaN }, "deliveryTimeoutMs"],
  [{ limits: { dmsPerDay: -1 } }, "limits.dmsPerDay"],
  [{ limits: { requestsPerMinute: 1.5 } }, "limits.requestsPerMinute"],
  [{ webhookSecret: "canary" }, "webhookSecret"],
  [{ apiKey: "canary canary" }, "apiKey"],
  [{ stateFile: "/dev/null/state.db" }, "stateFile"],
  [{ host: "192.0.2.1" }, "host"],
])("the options %j are rejected, by name and without secrets", async (options, name) => {
  const started = startPlatform(options);
  await expect(started).rejects.toThrow(ConfigError);
  await expect(started).rejects.toThrow(new RegExp(`- ${name}`));
  await expect(started).rejects.not.toThrow(/canary/);
});
