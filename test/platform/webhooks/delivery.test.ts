import { expect, test } from "vitest";
import { verify } from "../../faces/signature.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { type Received, runReceiver } from "../support/receiver.ts";

function signatureOf({ headers }: Received): string {
  return String(headers["x-service-signature"]);
}

test("a delivery is a POST with the documented headers", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: `${receiver.url}?app=1` });
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  expect(receiver.received).toHaveLength(1);
  expect(receiver.received[0]).toMatchObject({
    method: "POST",
    path: "/webhook?app=1",
    headers: {
      "content-type": "application/json",
      "user-agent": "Service-Webhook/1",
      "x-service-event-count": "1",
      "x-service-signature": expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    },
  });
});

test("the signature matches the bytes that arrive, and only with the webhook's secret", async () => {
  const clock = new ManualClock(1_700_000_000_500);
  const platform = await runPlatform({ clock });
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "dm.message", { text: "grüße \ud800 🙂" }));
  await deliveryOf(platform, id);
  const [received] = receiver.received;
  if (received === undefined) throw new Error("nothing arrived");
  const check = (body: Buffer, secret: string) =>
    verify(body, signatureOf(received), { secrets: [secret], now: clock.now() });
  expect(check(received.body, platform.webhookSecret)).toEqual({
    ok: true,
    timestamp: 1_700_000_000,
    secretIndex: 0,
  });
  expect(check(received.body, "whsec_other")).toMatchObject({ code: "SIGNATURE_MISMATCH" });
  const changed = Buffer.concat([received.body, Buffer.from(" ")]);
  expect(check(changed, platform.webhookSecret)).toMatchObject({ code: "SIGNATURE_MISMATCH" });
});

test("a delivery contains the events as GET /events shows them", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const all = ids(act(platform, "mention", { count: 3 }));
  await deliveryOf(platform, all.at(-1) ?? "");
  const { body } = await request<{ events: unknown }>(platform, "GET", "/api/v1/events");
  expect(receiver.received[0]?.events).toEqual(body.events);
});

test("events arrive in id order, in batches of up to 50", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const all = ids(act(platform, "like", { count: 120 }));
  await deliveryOf(platform, all.at(-1) ?? "");
  expect(receiver.batches()).toEqual([all.slice(0, 50), all.slice(50, 100), all.slice(100)]);
  const counts = receiver.received.map(({ headers }) => headers["x-service-event-count"]);
  expect(counts).toEqual(["50", "50", "20"]);
});

test("an event that occurs during a delivery is sent right after it", async () => {
  const platform = await runPlatform();
  const more: string[] = [];
  const receiver = await runReceiver((response, nth) => {
    if (nth === 1) more.push(...ids(act(platform, "follow")), ...ids(act(platform, "like")));
    response.writeHead(204).end();
  });
  platform.control.saveWebhook({ url: receiver.url });
  const first = ids(act(platform, "dm.message"));
  await platform.waitFor("delivery", ({ eventIds }) => eventIds[0] === more[0]);
  expect(receiver.batches()).toEqual([first, more]);
});

test("only the types subscribed to are sent, and an empty list means all", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url, types: ["follow", "mention"] });
  act(platform, "dm.message");
  const [follow = ""] = ids(act(platform, "follow"));
  act(platform, "like");
  const [mention = ""] = ids(act(platform, "mention"));
  await deliveryOf(platform, mention);
  platform.control.saveWebhook({ types: [] });
  const [like = ""] = ids(act(platform, "like"));
  await deliveryOf(platform, like);
  expect(receiver.batches().flat()).toEqual([follow, mention, like]);
});

test("events from before the webhook was set up are not sent", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  act(platform, "follow", { count: 3 });
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "follow"));
  await deliveryOf(platform, id);
  expect(receiver.batches()).toEqual([[id]]);
});

test("a delivery follows its event in the timeline", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const [id = ""] = ids(act(platform, "dm.message"));
  const delivery = await deliveryOf(platform, id);
  expect(delivery).toEqual({
    seq: expect.any(Number),
    at: expect.any(String),
    kind: "delivery",
    id: "dlv_1",
    bot: "bot",
    eventIds: [id],
    status: 200,
    ms: expect.any(Number),
    attempt: 1,
    forced: false,
  });
  const event = await platform.waitFor("event");
  expect(event.seq).toBeLessThan(delivery.seq);
});
