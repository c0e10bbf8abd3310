import { expect, test } from "vitest";
import { verify } from "../../faces/signature.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver, statuses } from "../support/receiver.ts";

interface Deliveries {
  readonly deliveries: { status: number | null; ms: number; error?: string }[];
}

test("events are redelivered, signed, in the requested order", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver(statuses(200, 200, 503));
  platform.control.saveWebhook({ url: receiver.url });
  const [first = "", second = ""] = ids(act(platform, "follow", { count: 2 }));
  await deliveryOf(platform, second);
  const { status, body } = await request<Deliveries>(platform, "POST", "/control/v1/deliveries", {
    body: { eventIds: [second, first, second], times: 2 },
  });
  expect(status).toBe(200);
  expect(body.deliveries).toEqual([
    { id: "dlv_2", status: 200, ms: expect.any(Number) },
    { id: "dlv_3", status: 503, ms: expect.any(Number), error: "responded with 503" },
  ]);
  const again = [second, first, second];
  expect(receiver.batches()).toEqual([[first, second], again, again]);
  const [, repeated] = receiver.received;
  const verdict = verify(
    repeated?.body ?? Buffer.from(""),
    repeated?.headers["x-service-signature"],
    { secrets: [platform.webhookSecret], now: Date.now() },
  );
  expect(verdict.ok).toBe(true);
});

test("forced deliveries do not change the schedule", async () => {
  const platform = await runPlatform({ disableAfter: 2 });
  const receiver = await runReceiver((response) => response.writeHead(500).end());
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  platform.control.setFaults({ webhook: { mode: "drop", times: 5 } });
  const results = await platform.control.deliver({ eventIds: [id], times: 3 });
  expect(results.map(({ status }) => status)).toEqual([500, 500, 500]);
  expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 1 });
  expect(platform.control.faults.webhook.times).toBe(5);
  const entry = await platform.waitFor(
    "delivery",
    ({ forced, attempt }) => forced && attempt === 3,
  );
  expect(entry).toMatchObject({ eventIds: [id], status: 500, error: "responded with 500" });
});

test("events that the webhook is not subscribed to can be forced", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  const all = ids(act(platform, "like"));
  platform.control.saveWebhook({ url: receiver.url, types: ["follow"] });
  await platform.control.deliver({ eventIds: all });
  expect(receiver.batches()).toEqual([all]);
});

test("while the webhook is off, forced deliveries are not sent either", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  const [id = ""] = ids(act(platform, "follow"));
  const body = { eventIds: [id] };
  const never = await request(platform, "POST", "/control/v1/deliveries", { body });
  expect(never.status).toBe(409);
  expect(never.body.error.code).toBe("WEBHOOK_OFF");
  platform.control.saveWebhook({ url: receiver.url });
  platform.control.saveWebhook({ enabled: false });
  expect((await request(platform, "POST", "/control/v1/deliveries", { body })).status).toBe(409);
  platform.control.saveWebhook({ enabled: true });
  expect((await request(platform, "POST", "/control/v1/deliveries", { body })).status).toBe(200);
  expect(receiver.received).toHaveLength(1);
});

test.each([
  [{ eventIds: Array.from({ length: 51 }, () => "evt_000000000001") }, 400],
  [{ eventIds: ["evt_000000000001"], times: 0 }, 400],
  [{ eventIds: ["evt_000000000001"], times: 101 }, 400],
  [{ eventIds: ["evt_000000000001", "1"] }, 404],
])("the deliveries %j get %i and are not sent", async (body, status) => {
  const platform = await runPlatform();
  act(platform, "follow");
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const answer = await request(platform, "POST", "/control/v1/deliveries", { body });
  expect(answer.status).toBe(status);
  expect(receiver.received).toEqual([]);
});
