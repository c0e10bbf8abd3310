import { expect } from "vitest";
import { answer, call, control } from "./http.ts";
import { rule, rulesOf } from "./rule.ts";
import { act, advance, eventOf, events, idsOf, SECOND } from "./setup.ts";
import { isSignedWith, newSecret, saveWebhook, webhook } from "./webhook.ts";
import { ISO_UTC } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 2, "Event" and "Webhook configuration". */

async function onlyEvent(world: World) {
  await act(world, "like");
  return (await events(world)).events[0];
}

rulesOf(onlyEvent, {
  "2.event.id": (event) => expect(event?.id).toEqual(expect.any(String)),
  "2.event.createdAt": (event) => expect(event?.createdAt).toMatch(ISO_UTC),
});

rule("2.event.id.order", async (world) => {
  const made: string[] = [];
  for (const type of ["like", "follow", "dm.message", "mention", "like", "repost"]) {
    made.push((await eventOf(act(world, type))).id);
    await advance(world, SECOND);
  }
  await act(world, "like", { count: 50 });
  const all = [...(await events(world, "?limit=50")).events];
  expect(idsOf(all).slice(0, made.length)).toEqual(made);
  expect(idsOf(all)).toEqual(idsOf(all).toSorted());
  const times = all.map(({ createdAt }) => Date.parse(createdAt));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

rule("2.event.id.same", async (world) => {
  await act(world, "like", { count: 3 });
  expect(await events(world)).toEqual(await events(world));
});

rule("2.event.type", async (world) => {
  const types = ["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"];
  for (const type of types) await act(world, type);
  const found = (await events(world)).events.map(({ type }) => type);
  expect([...new Set(found)]).toEqual(types);
});

rule("2.event.payload", async (world) => {
  await act(world, "follow");
  await act(world, "dm.message");
  const payloads = (await events(world)).events.map(({ payload }) => payload);
  expect(payloads).toEqual([expect.any(Object), expect.any(Object)]);
});

rule("2.webhook.https", async (world) => {
  const save = async (url: string) => {
    const { status } = await answer(world, `/control/v1/webhook`, {
      method: "PUT",
      headers: { "content-type": "application/json", "x-control-token": world.controlToken },
      body: JSON.stringify({ url }),
    });
    return status;
  };
  expect(await save("http://bot.example/webhook")).toBe(400);
  expect(await save("ftp://bot.example/webhook")).toBe(400);
  expect(await save("https://bot.example/webhook")).toBe(200);
});

rule("2.webhook.secret.prefix", async (world) => {
  expect((await newSecret(world)).secret).toMatch(/^whsec_\S+$/);
});

rule("2.webhook.secret.once", async (world) => {
  const { secret, url } = await webhook(world);
  const shown = await Promise.all(
    ["/webhook", "/state", "/timeline"].map((path) => control(world, "GET", path)),
  );
  expect(JSON.stringify(shown)).toContain(url);
  expect(JSON.stringify(shown)).not.toContain(secret);
});

rule("2.webhook.secret.new", async (world) => {
  const hook = await webhook(world);
  const { secret } = await newSecret(world);
  await act(world, "like");
  const delivery = await hook.next();
  expect(secret).not.toBe(hook.secret);
  expect(isSignedWith(secret, delivery)).toBe(true);
  expect(isSignedWith(hook.secret, delivery)).toBe(false);
});

rule("2.webhook.portal", async (world) => {
  const hook = await webhook(world);
  for (const path of ["/webhook", "/webhooks", "/me/webhook"]) {
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const { status } = await call(world, method, path, method === "GET" ? {} : { body: {} });
      expect([404, 405]).toContain(status);
    }
  }
  await saveWebhook(world, {});
  const { id } = await eventOf(act(world, "like"));
  expect(idsOf((await hook.next()).events)).toEqual([id]);
});
