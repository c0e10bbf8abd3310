import { expect, test } from "vitest";
import { createLogger } from "../../faces/core.ts";
import { verify } from "../../faces/signature.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver, statuses } from "../support/receiver.ts";

const ROUND_MS = 30_000;

test("after a failure all events wait for the next round, and are then sent in id order", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const receiver = await runReceiver(statuses(500));
  platform.control.saveWebhook({ url: receiver.url });
  const [first = ""] = ids(act(platform, "follow"));
  const failed = await deliveryOf(platform, first);
  expect(failed).toMatchObject({ status: 500, attempt: 1, error: "responded with 500" });
  const rest = ids(act(platform, "like", { count: 2 }));
  clock.advance(ROUND_MS);
  const second = await deliveryOf(platform, rest.at(-1) ?? "", { attempt: 2 });
  expect(receiver.batches()).toEqual([[first], [first, ...rest]]);
  expect(Date.parse(second.at) - Date.parse(failed.at)).toBe(ROUND_MS);
});

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

test("every attempt has a new signature with the time of its round", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, retryIntervalMs: 600_000 });
  const receiver = await runReceiver(statuses(503));
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  clock.advance(600_000);
  await deliveryOf(platform, id, { attempt: 2 });
  const verdicts = receiver.received.map(({ body, headers }) =>
    verify(body, String(headers["x-service-signature"]), {
      secrets: [platform.webhookSecret],
      now: clock.now(),
    }),
  );
  expect(verdicts).toMatchObject([{ ok: false, code: "SIGNATURE_STALE" }, { ok: true }]);
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

test.each([
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [400, false],
  [500, false],
])("a response of %i counts as delivered: %s", async (status, delivered) => {
  const platform = await runPlatform();
  const receiver = await runReceiver(statuses(status));
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  const { error } = await deliveryOf(platform, id);
  expect(error === undefined).toBe(delivered);
  expect(platform.control.webhook.consecutiveFailures).toBe(delivered ? 0 : 1);
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

test("a connection that is cut is a failure", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver((response) => response.socket?.destroy());
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  const { status, error } = await deliveryOf(platform, id);
  expect(status).toBeNull();
  expect(error).toBeDefined();
  expect(platform.control.webhook.consecutiveFailures).toBe(1);
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

test("twenty failures in a row disable the webhook, and notify its owner", async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const clock = new ManualClock();
  const platform = await runPlatform({
    clock,
    logger: createLogger({ level: "warn", secrets: [], destination }),
  });
  const receiver = await runReceiver((response) => response.writeHead(500).end());
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "dm.message", { text: "a secret text" }));
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    expect(platform.control.webhook).toMatchObject({
      enabled: true,
      consecutiveFailures: attempt - 1,
    });
    await deliveryOf(platform, id, { attempt });
    clock.advance(ROUND_MS);
  }
  const { reason } = await platform.waitFor("webhook", ({ change }) => change === "disabled");
  expect(reason).toContain("20 deliveries in a row failed");
  expect(platform.control.webhook).toEqual({
    url: receiver.url,
    types: [],
    enabled: false,
    consecutiveFailures: 20,
    disabledReason: reason,
    disableAfter: 20,
  });
  expect(receiver.received).toHaveLength(20);
  expect(platform.control.notifications()).toEqual([
    { id: "n_1", at: expect.stringMatching(/Z$/), type: "webhook.disabled", message: reason },
  ]);
  expect(lines.some((line) => line.includes("webhook disabled"))).toBe(true);
  expect(lines.join("")).not.toContain("a secret text");
});

test("a success in between resets the count", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, disableAfter: 2 });
  const receiver = await runReceiver(statuses(500, 200, 500, 200));
  platform.control.saveWebhook({ url: receiver.url });
  for (let round = 0; round < 2; round += 1) {
    const [id = ""] = ids(act(platform, "follow"));
    await deliveryOf(platform, id);
    clock.advance(ROUND_MS);
    await deliveryOf(platform, id, { attempt: 2 });
  }
  expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  const control = await runReceiver(statuses(500, 500));
  platform.control.saveWebhook({ url: control.url });
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  clock.advance(ROUND_MS);
  await deliveryOf(platform, id, { attempt: 2 });
  expect(platform.control.webhook.enabled).toBe(false);
});

test("a disabled webhook gets no events; an enabled webhook gets later events", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock, disableAfter: 1 });
  const receiver = await runReceiver(statuses(500));
  platform.control.saveWebhook({ url: receiver.url });
  const lost = ids(act(platform, "follow"));
  await platform.waitFor("webhook", ({ change }) => change === "disabled");
  const missed = ids(act(platform, "like", { count: 3 }));
  clock.advance(10 * ROUND_MS);
  expect(platform.control.saveWebhook({ enabled: true })).toEqual({
    url: receiver.url,
    types: [],
    enabled: true,
    consecutiveFailures: 0,
    disabledReason: null,
    disableAfter: 1,
  });
  const [later = ""] = ids(act(platform, "mention"));
  await deliveryOf(platform, later);
  expect(receiver.batches()).toEqual([lost, [later]]);
  const { body } = await request<{ events: { id: string }[] }>(platform, "GET", "/api/v1/events");
  expect(body.events.map(({ id }) => id)).toEqual([...lost, ...missed, later]);
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

test("saving the webhook delivers pending events immediately", async () => {
  const clock = new ManualClock();
  const platform = await runPlatform({ clock });
  const [broken, fine] = [await runReceiver(statuses(500)), await runReceiver()];
  platform.control.saveWebhook({ url: broken.url });
  const all = ids(act(platform, "follow"));
  await deliveryOf(platform, all[0] ?? "");
  platform.control.saveWebhook({ url: fine.url });
  await platform.waitFor("delivery", ({ status }) => status === 200);
  expect(fine.batches()).toEqual([all]);
});

test("rounds also run with a real clock", async () => {
  const platform = await runPlatform({ retryIntervalMs: 20 });
  const receiver = await runReceiver(statuses(500, 500));
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, id, { attempt: 3 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[id], [id], [id]]);
});
