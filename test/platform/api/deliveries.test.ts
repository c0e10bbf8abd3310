import { expect, onTestFinished, vi } from "vitest";
import { answer, control, expectRefusal } from "../conformance/http.ts";
import { act, advance, eventOf, events, freeze, idsOf, SECOND } from "../conformance/setup.ts";
import {
  attempted,
  endpoint,
  saveWebhook,
  type WebhookView,
  webhook,
  webhookOf,
} from "../conformance/webhook.ts";
import type { Refusal } from "../conformance/wire.ts";
import type { World } from "../conformance/world.ts";
import { choice } from "./choice.ts";

const ROUND = 30 * SECOND;

function save(world: World, change: object) {
  return answer<Refusal & WebhookView>(world, "/control/v1/webhook", {
    method: "PUT",
    headers: { "content-type": "application/json", "x-control-token": world.controlToken },
    body: JSON.stringify(change),
  });
}

choice("delivery", async (world) => {
  await freeze(world);
  const hook = await webhook(world, { replies: [200, 200, 200, 307, "silence", 200] });
  const made = idsOf((await act(world, "like", { count: 120 })).events);
  const batches = [await hook.next(), await hook.next(), await hook.next()];
  expect(batches.map((batch) => idsOf(batch.events))).toEqual([
    made.slice(0, 50),
    made.slice(50, 100),
    made.slice(100),
  ]);
  const { id } = await eventOf(act(world, "like"));
  await attempted(world, id);
  expect((await webhookOf(world)).consecutiveFailures).toBe(1);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await advance(world, ROUND);
  await hook.next();
  await hook.next();
  await vi.advanceTimersByTimeAsync(9_999);
  expect((await webhookOf(world)).consecutiveFailures).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await attempted(world, id, 2);
  expect((await webhookOf(world)).consecutiveFailures).toBe(2);
  expect(hook.deliveries).toHaveLength(5);
});

choice("retry", async (world) => {
  await freeze(world);
  const hook = await webhook(world, { replies: [500, 200] });
  const first = await eventOf(act(world, "like"));
  const failed = await hook.next();
  await attempted(world, first.id);
  const others = idsOf((await act(world, "follow", { count: 2 })).events);
  await advance(world, ROUND - 1);
  await advance(world, 1);
  const retried = await hook.next();
  expect(idsOf(retried.events)).toEqual([first.id, ...others]);
  expect(Number(retried.signature.t) - Number(failed.signature.t)).toBe(ROUND / SECOND);
});

choice("disabling", async (world) => {
  const hook = await webhook(world, { replies: [500] });
  const pending = await eventOf(act(world, "like"));
  for (let failures = 1; failures <= 20; failures += 1) {
    expect((await webhookOf(world)).enabled).toBe(true);
    await attempted(world, pending.id, failures);
    await advance(world, ROUND);
  }
  const { disabledReason, ...view } = await webhookOf(world);
  expect(view).toMatchObject({ enabled: false, consecutiveFailures: 20 });
  expect(disabledReason).toContain("20 deliveries in a row failed");
  const { items } = await control<{ items: unknown[] }>(world, "GET", "/notifications");
  expect(items).toMatchObject([{ type: "webhook.disabled", message: disabledReason }]);
  const { entries } = await control<{ entries: unknown[] }>(world, "GET", "/timeline");
  const disabled = { kind: "webhook", change: "disabled" };
  expect(entries).toContainEqual(expect.objectContaining(disabled));
  const missed = await eventOf(act(world, "follow"));
  await advance(world, ROUND);
  await saveWebhook(world, { enabled: true });
  const later = await eventOf(act(world, "follow"));
  await attempted(world, later.id);
  expect(hook.ids()).toEqual([...Array(20).fill(pending.id), later.id]);
  expect(idsOf((await events(world)).events)).toEqual([pending.id, missed.id, later.id]);
});

choice("saving an enabled webhook", async (world) => {
  await webhook(world, { replies: [500] });
  const { id } = await eventOf(act(world, "like"));
  await attempted(world, id);
  const mended = await endpoint();
  expect(await saveWebhook(world, { url: mended.url })).toMatchObject({ consecutiveFailures: 0 });
  expect(idsOf((await mended.next()).events)).toEqual([id]);
});

choice("webhook types", async (world) => {
  await webhook(world, { replies: [500] });
  const like = await eventOf(act(world, "like"));
  await attempted(world, like.id);
  const follow = await eventOf(act(world, "follow"));
  const mended = await endpoint();
  const types = ["follow", "follow", "poll.closed-2_a", "x".repeat(64)];
  const saved = await saveWebhook(world, { url: mended.url, types });
  expect(saved).toMatchObject({ types: types.slice(1) });
  expect(idsOf((await mended.next()).events)).toEqual([follow.id]);
  for (const type of ["A type", "Poll", "", "x".repeat(65)]) {
    expectRefusal(await save(world, { types: [type] }), 400, "VALIDATION");
  }
});

choice("http endpoints", async (world) => {
  const here = ["http://127.0.0.1:3000/webhook", "http://127.1:3000/", "http://localhost:3000/"];
  for (const url of [...here, "http://[::1]:3000/", "https://10.0.0.1/"]) {
    expect((await save(world, { url })).body).toMatchObject({ url: new URL(url).href });
  }
  const elsewhere = ["http://example.org/", "http://10.0.0.1/", "http://127.0.0.1.example.org/"];
  const none = ["ftp://127.0.0.1/", "https://user:pass@example.org/", "/webhook", ""];
  for (const url of [...elsewhere, "http://localhost.example.org/", ...none]) {
    expectRefusal(await save(world, { url }), 400, "VALIDATION");
  }
});
