import { expect, test } from "vitest";
import { createLogger } from "../../faces/core.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { act, deliveryOf, ids, runPlatform } from "../support/platform.ts";
import { deliverNew, runReceiver, runWithWebhook, statuses } from "../support/receiver.ts";

const ROUND_MS = 30_000;

test("a failed batch is never overtaken by a later one", async () => {
  const { clock, platform, receiver } = await runWithWebhook(statuses(200, 500));
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

test("the error names a port without a listener", async () => {
  const platform = await runPlatform();
  const port = await reservePort();
  platform.control.saveWebhook({ url: `http://localhost:${port}/` });
  const { error } = await deliverNew(platform);
  expect(error).toContain(`nothing is listening on localhost:${port}`);
});

test("an endless body does not delay later deliveries", async () => {
  const { platform } = await runWithWebhook((response) => response.writeHead(200).write("…"));
  expect(await deliverNew(platform)).toMatchObject({ status: 200 });
  expect(await deliverNew(platform)).toMatchObject({ status: 200 });
});

test("a disabled webhook is logged, without the texts of its events", async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ level: "warn", secrets: [], destination });
  const { platform } = await runWithWebhook(statuses(500), { logger, disableAfter: 1 });
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
  await deliverNew(platform);
  expect(platform.control.webhook).toMatchObject({
    enabled: false,
    disabledReason: "turned off by its owner",
  });
});

test("rounds also run with a real clock", async () => {
  const options = { clock: undefined, retryIntervalMs: 20 };
  const { platform, receiver } = await runWithWebhook(statuses(500, 500), options);
  const [id = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, id, { attempt: 3 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[id], [id], [id]]);
});
