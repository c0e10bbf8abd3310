import { expect } from "vitest";
import { get } from "./http.ts";
import { rule, rulesOf } from "./rule.ts";
import { act, eventOf, events, idsOf, tokenWith } from "./setup.ts";
import { webhook } from "./webhook.ts";
import type { World } from "./world.ts";

/** Section 4, "GET /events" and "Webhook receiver". */

const count = (world: World, number: number) => act(world, "like", { count: number });

rule("4.events.scope", async (world) => {
  for (const scope of ["read", "dm"] as const) {
    expect((await get(world, "/events", await tokenWith(world, scope))).status).toBe(200);
  }
  const token = await tokenWith(world, "posts:write", "comments:write");
  expect((await get(world, "/events", token)).status).toBe(403);
});

rule("4.events.since", async (world) => {
  const made = idsOf((await count(world, 3)).events);
  expect(idsOf((await events(world, `?since=${made[0]}`)).events)).toEqual(made.slice(1));
});

rule("4.events.limit", async (world) => {
  await count(world, 3);
  for (const limit of [1, 2, 3]) {
    expect((await events(world, `?limit=${limit}`)).events).toHaveLength(limit);
  }
});

rule("4.events.shape", async (world) => {
  const none = await events(world);
  expect(none).toEqual({ events: [], cursor: expect.any(String) });
  await count(world, 1);
  const some = await events(world);
  expect(some).toEqual({ events: [expect.any(Object)], cursor: expect.any(String) });
});

rule("4.events.1", async (world) => {
  const made: string[] = [];
  for (const type of ["like", "dm.message", "follow", "mention", "repost"]) {
    made.push((await eventOf(act(world, type))).id);
  }
  expect(idsOf((await events(world)).events)).toEqual(made);
});

rule("4.events.2", async (world) => {
  const { cursor } = await events(world);
  const made = idsOf((await count(world, 7)).events);
  let page = await events(world, `?limit=3&since=${cursor}`);
  const seen: string[] = [];
  while (page.events.length > 0) {
    seen.push(...idsOf(page.events));
    page = await events(world, `?limit=3&since=${page.cursor}`);
  }
  expect(seen).toEqual(made);
  const later = await eventOf(act(world, "follow"));
  expect(idsOf((await events(world, `?since=${page.cursor}`)).events)).toEqual([later.id]);
});

rule("4.events.3", async (world) => {
  const last = idsOf((await count(world, 2)).events).at(-1);
  expect(await events(world, `?since=${last}`)).toEqual({ events: [], cursor: last });
  // Events that the token cannot read do not move its cursor either.
  await act(world, "dm.message", { count: 3 });
  const reader = await tokenWith(world, "read");
  expect(await events(world, `?since=${last}`, reader)).toEqual({ events: [], cursor: last });
});

rule("4.events.4", async (world) => {
  const made = idsOf((await count(world, 4)).events);
  const first = await events(world, "?limit=3");
  expect(idsOf(first.events)).toEqual(made.slice(0, 3));
  const second = await events(world, `?limit=3&since=${first.cursor}`);
  expect(idsOf(second.events)).toEqual(made.slice(3));
});

rule("4.events.5", async (world) => {
  const { cursor } = await events(world, "?since=");
  const made = idsOf((await count(world, 3)).events);
  expect(idsOf((await events(world, `?since=${cursor}`)).events)).toEqual(made);
  const present = await events(world, "?since=");
  expect(present.events).toEqual([]);
  const later = await eventOf(act(world, "follow"));
  expect(idsOf((await events(world, `?since=${present.cursor}`)).events)).toEqual([later.id]);
});

rule("4.events.6.dm", async (world) => {
  const message = await eventOf(act(world, "dm.message"));
  await act(world, "like");
  const visible = async (...scopes: Parameters<typeof tokenWith>[1][]) =>
    idsOf((await events(world, "", await tokenWith(world, ...scopes))).events);
  expect(await visible("dm")).toEqual([message.id]);
  expect(await visible("read", "posts:write", "comments:write")).not.toContain(message.id);
});

rule("4.events.6.read", async (world) => {
  const others = ["mention", "comment", "reply", "follow", "like", "repost", "quote"];
  const made: string[] = [];
  for (const type of others) made.push(...idsOf((await act(world, type)).events));
  await act(world, "dm.message");
  const reader = await tokenWith(world, "read");
  expect(idsOf((await events(world, "", reader)).events)).toEqual(made);
  const writer = await tokenWith(world, "dm", "posts:write", "comments:write");
  const seen = (await events(world, "", writer)).events.map(({ type }) => type);
  expect(seen).toEqual(["dm.message"]);
});

rule("4.events.6.hidden", async (world) => {
  const made: string[][] = [[], []];
  for (let round = 1; round <= 3; round += 1) {
    made[0]?.push(...idsOf((await act(world, "dm.message", { count: 60 })).events));
    made[1]?.push(...idsOf((await count(world, round)).events));
  }
  for (const [nth, scope] of (["dm", "read"] as const).entries()) {
    const token = await tokenWith(world, scope);
    const seen: string[] = [];
    let page = await events(world, "", token);
    while (page.events.length > 0) {
      seen.push(...idsOf(page.events));
      page = await events(world, `?since=${page.cursor}`, token);
    }
    expect(seen).toEqual(made[nth]);
  }
});

rule("4.events.6.neither", async (world) => {
  await act(world, "dm.message");
  for (const scopes of [[], ["posts:write"], ["comments:write"]] as const) {
    const { status, body } = await get(world, "/events", await tokenWith(world, ...scopes));
    expect(status).toBe(403);
    expect(body).not.toHaveProperty("events");
  }
});

async function deliveryOfLike(world: World) {
  const hook = await webhook(world);
  const { id } = await eventOf(act(world, "like"));
  return { id, ...(await hook.next()) };
}

rulesOf(deliveryOfLike, {
  "4.receiver.post": ({ method, path }) =>
    expect({ method, path }).toEqual({ method: "POST", path: "/webhook?app=1" }),
  "4.receiver.content-type": ({ headers }) =>
    expect(headers["content-type"]).toBe("application/json"),
  "4.receiver.user-agent": ({ headers }) => expect(headers["user-agent"]).toBe("Service-Webhook/1"),
  "4.receiver.body": ({ id, body }) =>
    expect(JSON.parse(body.toString())).toEqual({ events: [expect.objectContaining({ id })] }),
});

rule("4.receiver.count", async (world) => {
  const hook = await webhook(world);
  await count(world, 3);
  const { headers, events: sent } = await hook.next();
  expect(sent.length).toBeGreaterThan(0);
  expect(headers["x-service-event-count"]).toBe(String(sent.length));
});

rule("4.receiver.same", async (world) => {
  const hook = await webhook(world);
  for (const type of ["dm.message", "mention", "follow"]) {
    await act(world, type, type === "follow" ? {} : { text: "grüße 🙂" });
    await hook.next();
  }
  const pushed = hook.deliveries.flatMap((delivery) => delivery.events);
  expect(pushed).toEqual((await events(world)).events);
});
