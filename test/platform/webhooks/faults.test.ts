import { expect, test } from "vitest";
import type { Platform, WebhookFaultInput } from "../../faces/platform.ts";
import { verify } from "../../faces/signature.ts";
import { ManualClock } from "../support/clock.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import {
  deliverNew,
  type Received,
  type Receiver,
  runReceiver,
  runWithWebhook,
  statuses,
} from "../support/receiver.ts";

const ROUND_MS = 30_000;
const TIMEOUT_MS = 2_000;

interface Stage {
  readonly clock: ManualClock;
  readonly platform: Platform;
  readonly receiver: Receiver;
}

async function stage(...answers: number[]): Promise<Stage> {
  const clock = new ManualClock(1_700_000_000_000);
  // This random source always picks the last remaining element, so shuffling reverses the events.
  const random = () => 0.999;
  const platform = await runPlatform({ clock, random, deliveryTimeoutMs: TIMEOUT_MS });
  const receiver = await runReceiver(statuses(...answers));
  platform.control.saveWebhook({ url: receiver.url });
  return { clock, platform, receiver };
}

/**
 * Returns the time at which a delivery was signed, in seconds. Fails if the signature does not match the bytes
 * delivered.
 */
function signedAt(platform: Platform, clock: ManualClock, { body, headers }: Received): number {
  const verdict = verify(body, headers["x-service-signature"], {
    secrets: [platform.webhookSecret],
    now: clock.now(),
  });
  if (!verdict.ok) throw new Error(verdict.code);
  return verdict.timestamp;
}

test.each<[WebhookFaultInput, number | null]>([
  [{ mode: "status", times: 2 }, 500],
  [{ mode: "status", times: 2, status: 418 }, 418],
  [{ mode: "drop", times: 2 }, null],
])("deliveries under the fault %j fail without reaching the bot", async (webhook, status) => {
  const { clock, platform, receiver } = await stage();
  await request(platform, "PUT", "/control/v1/faults", { body: { webhook } });
  const [id = ""] = ids(act(platform, "follow"));
  const first = await deliveryOf(platform, id);
  const error = "injected fault: not sent";
  expect(first).toMatchObject({ status, error, ms: 0, fault: webhook.mode });
  expect(platform.control.faults.webhook.times).toBe(1);
  clock.advance(ROUND_MS);
  await deliveryOf(platform, id, { attempt: 2 });
  expect(platform.control.webhook.consecutiveFailures).toBe(2);
  expect(receiver.received).toEqual([]);
  await platform.waitFor("fault", ({ change }) => change === "ended");
  expect(platform.control.faults.webhook.mode).toBe("none");
  clock.advance(ROUND_MS);
  expect(await deliveryOf(platform, id, { attempt: 3 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[id]]);
});

test("a fault without times stays until it is changed", async () => {
  const { clock, platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode: "drop" } });
  const [id = ""] = ids(act(platform, "follow"));
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    if (attempt > 1) clock.advance(ROUND_MS);
    expect(await deliveryOf(platform, id, { attempt })).toMatchObject({ status: null });
  }
  expect(platform.control.faults.webhook.mode).toBe("drop");
  platform.control.setFaults({ webhook: { mode: "none" } });
  clock.advance(ROUND_MS);
  expect(await deliveryOf(platform, id, { attempt: 4 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[id]]);
});

test("a fault with a rate affects the deliveries whose random number is below the rate", async () => {
  const draws = [0.1, 0.3, 0.29, 0.9];
  const { platform, receiver } = await runWithWebhook(statuses(), {
    random: () => draws.shift() ?? 1,
  });
  platform.control.setFaults({ webhook: { mode: "twice", rate: 0.3 } });
  const arrivals: string[][] = [];
  for (const times of [2, 1, 2, 1]) {
    const [id = ""] = ids(act(platform, "follow"));
    await deliveryOf(platform, id);
    arrivals.push(...Array.from({ length: times }, () => [id]));
  }
  expect(receiver.batches()).toEqual(arrivals);
});

test("faulty deliveries disable the webhook like real failures", async () => {
  const { platform } = await runWithWebhook(statuses(), { disableAfter: 1 });
  platform.control.setFaults({ webhook: { mode: "status", times: 1 } });
  act(platform, "follow");
  await platform.waitFor("webhook", ({ change }) => change === "disabled");
  expect(platform.control.webhook.enabled).toBe(false);
});

test("a delivery that times out takes the full timeout, and does not reach the bot", async () => {
  const { clock, platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode: "timeout", times: 1 } });
  const [id = ""] = ids(act(platform, "follow"));
  clock.advance(TIMEOUT_MS);
  expect(await deliveryOf(platform, id)).toMatchObject({
    status: null,
    ms: TIMEOUT_MS,
    fault: "timeout",
    error: expect.stringContaining(`no response within ${TIMEOUT_MS} ms`),
  });
  expect(receiver.received).toEqual([]);
  clock.advance(ROUND_MS);
  await deliveryOf(platform, id, { attempt: 2 });
  expect(receiver.batches()).toEqual([[id]]);
});

test("a delivery whose response is lost has arrived, counts as failed and is retried", async () => {
  const { clock, platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode: "lose-answer", times: 1 } });
  const [id = ""] = ids(act(platform, "follow"));
  expect(await deliveryOf(platform, id)).toMatchObject({
    status: null,
    fault: "lose-answer",
    error: "injected fault: the response was lost",
  });
  expect(receiver.batches()).toEqual([[id]]);
  expect(platform.control.webhook.consecutiveFailures).toBe(1);
  clock.advance(ROUND_MS);
  expect(await deliveryOf(platform, id, { attempt: 2 })).toMatchObject({ status: 200 });
  expect(receiver.batches()).toEqual([[id], [id]]);
  const times = receiver.received.map((one) => signedAt(platform, clock, one));
  expect(times).toEqual([1_700_000_000, 1_700_000_030]);
});

test.each([
  [[500, 200], 0],
  [[200, 500], 1],
])(
  "of a delivery that is sent twice, the second response counts: %j",
  async (answers, failures) => {
    const { clock, platform, receiver } = await stage(...answers);
    platform.control.setFaults({ webhook: { mode: "twice", times: 1 } });
    const all = ids(act(platform, "like", { count: 3 }));
    await deliveryOf(platform, all.at(-1) ?? "");
    expect(receiver.batches()).toEqual([all, all]);
    for (const one of receiver.received) signedAt(platform, clock, one);
    const { items } = platform.control.deliveries();
    expect(items.map(({ status }) => status)).toEqual([...answers].reverse());
    expect(items.map(({ attempt, fault }) => [attempt, fault])).toEqual([
      [1, "twice"],
      [1, "twice"],
    ]);
    expect(platform.control.webhook.consecutiveFailures).toBe(failures);
  },
);

test("the events of a shuffled delivery arrive in another order, signed, and once", async () => {
  const { clock, platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode: "shuffle", times: 1 } });
  const all = ids(act(platform, "like", { count: 5 }));
  const mixed = all.toReversed();
  const { eventIds } = await deliveryOf(platform, all[0] ?? "");
  expect(eventIds).toEqual(mixed);
  const { eventId: next } = await deliverNew(platform);
  expect(receiver.batches()).toEqual([mixed, [next]]);
  expect(receiver.received[0]?.headers["x-service-event-count"]).toBe("5");
  for (const one of receiver.received) signedAt(platform, clock, one);
});

test("a delayed delivery is sent and signed at its due time", async () => {
  const { clock, platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode: "delay", delayMs: 7_000, times: 1 } });
  const first = ids(act(platform, "follow"));
  clock.advance(6_999);
  const rest = ids(act(platform, "like"));
  clock.advance(1);
  await deliveryOf(platform, rest[0] ?? "");
  expect(receiver.batches()).toEqual([first, rest]);
  const times = receiver.received.map((one) => signedAt(platform, clock, one));
  expect(times).toEqual([1_700_000_007, 1_700_000_007]);
});

test("saving the webhook ends a delay", async () => {
  const { clock, platform, receiver } = await stage();
  const other = await runReceiver();
  platform.control.setFaults({ webhook: { mode: "delay", delayMs: 7_000, times: 1 } });
  const all = ids(act(platform, "follow"));
  platform.control.saveWebhook({ url: other.url });
  await deliveryOf(platform, all[0] ?? "");
  clock.advance(7_000);
  const { eventId: next } = await deliverNew(platform, "like");
  expect(other.batches()).toEqual([all, [next]]);
  expect(receiver.received).toEqual([]);
});

test("a delayed delivery is not sent if the webhook is disabled meanwhile", async () => {
  const { clock, platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode: "delay", delayMs: 7_000, times: 1 } });
  act(platform, "follow");
  platform.control.saveWebhook({ enabled: false });
  clock.advance(7_000);
  platform.control.saveWebhook({ enabled: true });
  const next = ids(act(platform, "like"));
  await deliveryOf(platform, next[0] ?? "");
  expect(receiver.batches()).toEqual([next]);
});

test.each(["delay", "timeout"] as const)("a platform stops during a %s", async (mode) => {
  const { platform, receiver } = await stage();
  platform.control.setFaults({ webhook: { mode } });
  act(platform, "follow");
  await platform.stop();
  expect(receiver.received).toEqual([]);
});
