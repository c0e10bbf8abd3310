import { expect } from "vitest";
import { rule } from "./rule.ts";
import { act, advance, eventOf, events, HOUR, idsOf, SECOND } from "./setup.ts";
import { attempted, saveWebhook, webhook, webhookOf } from "./webhook.ts";

/** Section 6, "Webhook delivery rules". */

const ROUND = 40 * SECOND;

rule("6.delivery.1.chosen", async (world) => {
  const hook = await webhook(world, { types: ["follow", "mention"] });
  const made: string[] = [];
  for (const type of ["dm.message", "follow", "like", "repost", "mention", "quote", "follow"]) {
    const { id } = await eventOf(act(world, type));
    if (type !== "follow" && type !== "mention") continue;
    made.push(id);
    await hook.next();
  }
  expect(hook.ids()).toEqual(made);
});

rule("6.delivery.1.all", async (world) => {
  const hook = await webhook(world, { types: [] });
  const types = ["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"];
  for (const type of types) {
    await act(world, type);
    await hook.next();
  }
  const sent = hook.deliveries.flatMap((delivery) => delivery.events.map(({ type }) => type));
  expect([...new Set(sent)]).toEqual(types);
});

rule("6.delivery.1.future", async (world) => {
  const hook = await webhook(world, { types: ["follow", "poll.closed"] });
  await act(world, "like");
  const made = await eventOf(act(world, "poll.closed", { payload: { pollId: "poll_1" } }));
  expect((await hook.next()).events).toEqual([made]);
});

rule("6.delivery.2.webhook", async (world) => {
  const hook = await webhook(world, { replies: [500, 200] });
  const { id } = await eventOf(act(world, "like"));
  const [first] = (await hook.next()).events;
  await attempted(world, id);
  await advance(world, ROUND);
  const [second] = (await hook.next()).events;
  expect(first?.id).toBe(id);
  expect(second).toEqual(first);
});

rule("6.delivery.2.polling", async (world) => {
  await act(world, "like", { count: 5 });
  const once = await events(world, "?limit=3");
  const again = await events(world, "?limit=5");
  expect(again.events.slice(0, 3)).toEqual(once.events);
});

rule("6.delivery.3.order", async (world) => {
  const hook = await webhook(world);
  const made = idsOf((await act(world, "like", { count: 120 })).events);
  while (hook.ids().length < made.length) await hook.next();
  expect(hook.ids()).toEqual(made);
});

rule("6.delivery.3.fields", async (world) => {
  const hook = await webhook(world);
  for (let nth = 1; nth <= 4; nth += 1) {
    await act(world, "like", { count: 3 });
    await advance(world, SECOND);
  }
  while (hook.ids().length < 12) await hook.next();
  const all = hook.deliveries.flatMap((delivery) => delivery.events);
  const byId = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const byTime = all.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  expect(idsOf(byId)).toEqual(idsOf(byTime));
});

rule("6.delivery.4", async (world) => {
  const hook = await webhook(world, { replies: ["hang up", 200] });
  const { id } = await eventOf(act(world, "like"));
  await hook.next();
  await attempted(world, id);
  expect((await webhookOf(world)).consecutiveFailures).toBe(1);
  await advance(world, ROUND);
  expect(idsOf((await hook.next()).events)).toEqual([id]);
});

rule("6.delivery.5", async (world) => {
  const hook = await webhook(world, { replies: [500] });
  const { id } = await eventOf(act(world, "like"));
  for (let attempt = 1; (await webhookOf(world)).enabled; attempt += 1) {
    await hook.next();
    await attempted(world, id, attempt);
    await advance(world, ROUND);
  }
  const last = Number(hook.deliveries.at(-1)?.signature.t);
  await act(world, "follow");
  await advance(world, HOUR);
  // Anything sent while the webhook was off has arrived by the time this event does.
  await saveWebhook(world, { enabled: true });
  const later = await eventOf(act(world, "follow"));
  while (!hook.ids().includes(later.id)) await hook.next();
  const times = hook.deliveries.map(({ signature }) => Number(signature.t));
  expect(times.filter((t) => t > last && t < last + HOUR / 1000)).toEqual([]);
});

rule("6.delivery.6", async (world) => {
  const hook = await webhook(world);
  const made: string[] = [];
  for (let nth = 1; nth <= 3; nth += 1) {
    made.push((await eventOf(act(world, "like"))).id);
    expect(idsOf((await events(world)).events)).toEqual(made);
    await hook.next();
    expect(idsOf((await events(world)).events)).toEqual(made);
  }
  expect(hook.ids()).toEqual(made);
});
