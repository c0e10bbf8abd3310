import { expect, test } from "vitest";
import { createLogger } from "../../faces/core.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, runPlatform } from "../support/platform.ts";
import { runReceiver, statuses } from "../support/receiver.ts";

const ROUND_MS = 30_000;

test("a round never begins early, and is never skipped", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, retryIntervalMs: 5_000 });
  const receiver = await runReceiver(statuses(500, 502, 404));
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  const times: number[] = [];
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    times.push(Date.parse((await deliveryOf(platform, id, { attempt })).at));
    // The clock moves in two steps: no delivery is due after the first, and one is due after the second.
    clock.advance(4_999);
    clock.advance(1);
  }
  const [start = 0] = times;
  expect(times.map((time) => time - start)).toEqual([0, 5_000, 10_000, 15_000]);
  expect(platform.control.webhook.consecutiveFailures).toBe(0);
});

test("a failed batch is never overtaken by a later one", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const receiver = await runReceiver(statuses(200, 500));
  platform.control.saveWebhook({ url: receiver.url });
  const all = ids(act(platform, "like", { count: 120 }));
  await deliveryOf(platform, all[99] ?? "");
  clock.advance(ROUND_MS);
  await deliveryOf(platform, all[119] ?? "");
  expect(receiver.batches()).toEqual([
    all.slice(0, 50),
    all.slice(50, 100),
    all.slice(50, 100),
    all.slice(100),
  ]);
});

test("a redirect is a failure and is not followed", async () => {
  const platform = await runPlatform();
  const target = await runReceiver();
  const receiver = await runReceiver((response) =>
    response.writeHead(307, { location: target.url }).end(),
  );
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, id)).toMatchObject({
    status: 307,
    error: expect.stringContaining("does not follow redirects"),
  });
  expect(platform.control.webhook.consecutiveFailures).toBe(1);
  expect(target.received).toEqual([]);
});

test("no response within the timeout is a failure", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, deliveryTimeoutMs: 2_000 });
  const receiver = await runReceiver((response, nth) => {
    if (nth === 1) clock.advance(2_000);
    else response.writeHead(200).end();
  });
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, id)).toMatchObject({
    status: null,
    ms: 2_000,
    error: "no response within 2000 ms",
  });
  clock.advance(ROUND_MS);
  expect(await deliveryOf(platform, id, { attempt: 2 })).toMatchObject({ status: 200 });
});

test("the error names a port without a listener", async () => {
  const platform = await runPlatform();
  const port = await reservePort();
  platform.control.saveWebhook({ url: `http://localhost:${port}/` });
  const [id = ""] = ids(act(platform, "follow"));
  const { error } = await deliveryOf(platform, id);
  expect(error).toContain(`nothing is listening on localhost:${port}`);
});

test("an endless body does not delay later deliveries", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver((response) => response.writeHead(200).write("…"));
  platform.control.saveWebhook({ url: receiver.url });
  const [first = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, first)).toMatchObject({ status: 200 });
  const [second = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, second)).toMatchObject({ status: 200 });
});

test("a disabled webhook is logged, without the texts of its events", async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ level: "warn", secrets: [], destination });
  const platform = await runPlatform({ logger, disableAfter: 1 });
  const receiver = await runReceiver(statuses(500));
  platform.control.saveWebhook({ url: receiver.url });
  act(platform, "dm.message", { text: "a secret text" });
  await platform.waitFor("webhook", ({ change }) => change === "disabled");
  expect(lines.join("")).toContain("webhook disabled");
  expect(lines.join("")).not.toContain("a secret text");
});

test("a failure that ends after the webhook was saved again does not count", async () => {
  const platform = await runPlatform({ disableAfter: 1 });
  const fine = await runReceiver();
  const failing = await runReceiver((response) => {
    platform.control.saveWebhook({ url: fine.url });
    response.writeHead(500).end();
  });
  platform.control.saveWebhook({ url: failing.url });
  const all = ids(act(platform, "follow"));
  await platform.waitFor("delivery", ({ status }) => status === 200);
  expect(fine.batches()).toEqual([all]);
  expect(platform.control.webhook.enabled).toBe(true);
});

test("disabling the webhook during a delivery keeps it disabled", async () => {
  const platform = await runPlatform({ disableAfter: 1 });
  const receiver = await runReceiver((response) => {
    platform.control.saveWebhook({ enabled: false });
    response.writeHead(500).end();
  });
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  expect(platform.control.webhook).toMatchObject({
    enabled: false,
    disabledReason: "turned off by its owner",
  });
});

test("rounds also run with a real clock", async () => {
  const platform = await runPlatform({ retryIntervalMs: 20 });
  const receiver = await runReceiver(statuses(500, 500));
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, id, { attempt: 3 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[id], [id], [id]]);
});
