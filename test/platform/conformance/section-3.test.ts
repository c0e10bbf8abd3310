import { expect } from "vitest";
import { control, expectRefusal, post, read } from "./http.ts";
import { rule } from "./rule.ts";
import {
  act,
  advance,
  eventOf,
  events,
  HOUR,
  idsOf,
  MINUTE,
  newPost,
  newUpload,
  rawBytes,
  SECOND,
  tokenOfOtherApp,
  tokenWith,
} from "./setup.ts";
import { attempted, saveWebhook, type Webhook, webhook, webhookOf } from "./webhook.ts";
import type { Content } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 3: the states of uploads, the webhook and deliveries. */

/** In ms. Well after the next retry round. */
const ROUND = 40 * SECOND;

async function failUntilDisabled(world: World, hook: Webhook): Promise<number> {
  const { id } = await eventOf(act(world, "like"));
  for (let failures = 1; ; failures += 1) {
    await hook.next();
    await attempted(world, id, failures);
    const { enabled } = await webhookOf(world);
    if (!enabled) return failures;
    await advance(world, ROUND);
  }
}

rule("3.upload.uploaded", async (world) => {
  const [one, other] = [await newUpload(world), await newUpload(world)];
  expect(one.key).not.toBe(other.key);
  const refused = await post(world, "/uploads", rawBytes(Buffer.from("no image")));
  expect(refused.status).toBe(400);
  expect(refused.body).not.toHaveProperty("key");
});

rule("3.upload.attached", async (world) => {
  const { key, url, width, height } = await newUpload(world);
  const { id } = await newPost(world, { imageKeys: [key] });
  const { images } = await read<Content>(world, `/posts/${id}`);
  expect(images).toEqual([expect.objectContaining({ url, width, height })]);
});

rule("3.upload.consumed", async (world) => {
  const { key } = await newUpload(world);
  const first = await newPost(world, { imageKeys: [key] });
  expectRefusal(await post(world, "/posts", { imageKeys: [key] }), 400, "INVALID_IMAGE_KEY");
  expect((await read<Content>(world, `/posts/${first.id}`)).images).toHaveLength(1);
});

rule("3.upload.other-app", async (world) => {
  const { key } = await newUpload(world, await tokenWith(world, "dm"));
  const other = await tokenOfOtherApp(world);
  expectRefusal(await post(world, "/posts", { imageKeys: [key] }, other), 400, "INVALID_IMAGE_KEY");
  expect((await newPost(world, { imageKeys: [key] })).images).toHaveLength(1);
});

rule("3.upload.cleaned", async (world) => {
  const { key, url } = await newUpload(world);
  await advance(world, HOUR);
  expectRefusal(await post(world, "/posts", { imageKeys: [key] }), 400, "INVALID_IMAGE_KEY");
  expect((await world.fetch(url)).status).toBe(404);
});

rule("3.upload.kept", async (world) => {
  const { key, url } = await newUpload(world);
  const { id } = await newPost(world, { imageKeys: [key] });
  await advance(world, HOUR + MINUTE);
  expect((await world.fetch(url)).status).toBe(200);
  expect((await read<Content>(world, `/posts/${id}`)).images).toHaveLength(1);
});

rule("3.webhook.failure", async (world) => {
  const replies = [302, 304, 400, 401, 404, 429, 500, 503] as const;
  const hook = await webhook(world, { replies });
  const { id } = await eventOf(act(world, "like"));
  for (const failures of replies.keys()) {
    await hook.next();
    await attempted(world, id, failures + 1);
    expect((await webhookOf(world)).consecutiveFailures).toBe(failures + 1);
    await advance(world, ROUND);
  }
});

rule("3.webhook.disabled", async (world) => {
  const hook = await webhook(world, { replies: [500] });
  expect(await failUntilDisabled(world, hook)).toBeGreaterThan(1);
  expect(await webhookOf(world)).toMatchObject({ enabled: false });
});

rule("3.webhook.consecutive", async (world) => {
  const hook = await webhook(world, { replies: [500, 500, 200, 500] });
  const { id } = await eventOf(act(world, "like"));
  for (const attempt of [1, 2, 3]) {
    await hook.next();
    await attempted(world, id, attempt);
    await advance(world, ROUND);
  }
  expect((await webhookOf(world)).consecutiveFailures).toBe(0);
  const later = await eventOf(act(world, "like"));
  await attempted(world, later.id, 1);
  expect((await webhookOf(world)).consecutiveFailures).toBe(1);
});

rule("3.webhook.notification", async (world) => {
  const notifications = async () =>
    (await control<{ items: readonly unknown[] }>(world, "GET", "/notifications")).items;
  const hook = await webhook(world, { replies: [500] });
  expect(await notifications()).toEqual([]);
  await failUntilDisabled(world, hook);
  expect(await notifications()).toEqual([expect.objectContaining({ type: "webhook.disabled" })]);
});

rule("3.webhook.re-enabled", async (world) => {
  const hook = await webhook(world, { replies: [200] });
  await saveWebhook(world, { enabled: false });
  expect(await saveWebhook(world, { enabled: true })).toMatchObject({ enabled: true });
  const { id } = await eventOf(act(world, "like"));
  expect(idsOf((await hook.next()).events)).toEqual([id]);
});

rule("3.webhook.saved", async (world) => {
  const failing = await webhook(world, { replies: [500] });
  await failUntilDisabled(world, failing);
  const mended = await webhook(world);
  expect(await webhookOf(world)).toMatchObject({ enabled: true });
  const { id } = await eventOf(act(world, "follow"));
  await attempted(world, id);
  expect(mended.ids()).toContain(id);
});

rule("3.webhook.count", async (world) => {
  const hook = await webhook(world, { replies: [500] });
  const before = await failUntilDisabled(world, hook);
  expect(await saveWebhook(world, { enabled: true })).toMatchObject({ consecutiveFailures: 0 });
  expect(await failUntilDisabled(world, hook)).toBe(before);
});

rule("3.delivery.delivered", async (world) => {
  const hook = await webhook(world, { replies: [200, 201, 204, 299] });
  const made: string[] = [];
  for (let nth = 1; nth <= 5; nth += 1) {
    const { id } = await eventOf(act(world, "like"));
    made.push(id);
    await hook.next();
    await attempted(world, id);
    await advance(world, ROUND);
  }
  expect(hook.ids()).toEqual(made);
});

rule("3.delivery.failed", async (world) => {
  const hook = await webhook(world, { replies: [300, 404, 500, 200] });
  const { id } = await eventOf(act(world, "like"));
  for (const attempt of [1, 2, 3, 4]) {
    expect(idsOf((await hook.next()).events)).toEqual([id]);
    await attempted(world, id, attempt);
    await advance(world, ROUND);
  }
});

rule("3.log.kept", async (world) => {
  const hook = await webhook(world, { replies: [500] });
  await failUntilDisabled(world, hook);
  const { id } = await eventOf(act(world, "follow"));
  expect(idsOf((await events(world)).events).at(-1)).toBe(id);
});
