import { expect, test } from "vitest";
import { act, deliveryOf, ids, runPlatform } from "../support/platform.ts";
import { deliverNew, runReceiver, runWithWebhook } from "../support/receiver.ts";

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

test("events from before the webhook was set up are not sent", async () => {
  const platform = await runPlatform();
  const receiver = await runReceiver();
  act(platform, "follow", { count: 3 });
  platform.control.saveWebhook({ url: receiver.url });
  const { eventId: id } = await deliverNew(platform);
  expect(receiver.batches()).toEqual([[id]]);
});

test("a delivery follows its event in the timeline", async () => {
  const { platform } = await runWithWebhook();
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
