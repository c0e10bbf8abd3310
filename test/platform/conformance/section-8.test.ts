import { expect } from "vitest";
import { formWith, image, imageOf } from "../support/images.ts";
import { call, expectRefusal, get, post } from "./http.ts";
import { rule } from "./rule.ts";
import {
  act,
  advance,
  conversationWith,
  DAY,
  eventOf,
  events,
  freeze,
  HOUR,
  idsOf,
  MINUTE,
  messagesOf,
  newKeys,
  newPost,
  newUpload,
  rawBytes,
  SECOND,
  setLimits,
  tokenOfOtherApp,
  tokenWith,
  writePaths,
} from "./setup.ts";
import { attempted, endpoint, isSignedWith, saveWebhook, webhook } from "./webhook.ts";
import type { Page } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 8: limits. */

const MB = 1024 * 1024;

async function expectPageSizes(world: World, path: string, list: "items" | "events") {
  for (const limit of [1, 50]) {
    const { status, body } = await get<Partial<Page<unknown> & { events: unknown[] }>>(
      world,
      `${path}?limit=${limit}`,
    );
    expect({ status, size: body[list]?.length }).toEqual({ status: 200, size: limit });
  }
  for (const limit of ["0", "51", "-1", "1.5", "ten", "1000000000000"]) {
    const { status } = await get(world, `${path}?limit=${limit}`);
    expect({ limit, status }).toEqual({ limit, status: 400 });
  }
}

rule("8.size", async (world) => {
  const upload = async (bytes: Buffer<ArrayBuffer>) => [
    (await post(world, "/uploads", rawBytes(bytes))).status,
    (await call(world, "POST", "/uploads", { body: formWith(bytes) })).status,
  ];
  expect(await upload(await imageOf(5_000_000))).toEqual([200, 200]);
  expect(await upload(await imageOf(5 * MB + 1))).toEqual([400, 400]);
});

rule("8.types", async (world) => {
  const others = {
    bmp: Buffer.concat([Buffer.from("BM"), Buffer.alloc(100)]),
    tiff: Buffer.concat([Buffer.from("II*\0"), Buffer.alloc(100)]),
    ico: Buffer.concat([Buffer.from([0, 0, 1, 0]), Buffer.alloc(100)]),
    pdf: Buffer.from("%PDF-1.7\n"),
    svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    text: Buffer.from("hello"),
  };
  for (const [kind, bytes] of Object.entries(others)) {
    const { status } = await call(world, "POST", "/uploads", { body: formWith(bytes) });
    expect({ kind, status }).toEqual({ kind, status: 400 });
  }
  const { status } = await call(world, "POST", "/uploads", { body: formWith(await image()) });
  expect(status).toBe(200);
});

rule("8.images", async (world) => {
  for (const path of await writePaths(world)) {
    const keys = await newKeys(world, 5);
    expectRefusal(await post(world, path, { imageKeys: keys }), 400, "TOO_MANY_IMAGES");
    expect((await post(world, path, { imageKeys: keys.slice(0, 4) })).status).toBe(201);
  }
});

rule("8.lifetime", async (world) => {
  await freeze(world);
  const { key } = await newUpload(world);
  await advance(world, HOUR - 1);
  expect((await newPost(world, { imageKeys: [key] })).images).toHaveLength(1);
});

rule("8.page.conversations", async (world) => {
  for (let nth = 1; nth <= 51; nth += 1) await conversationWith(world, `person${nth}`);
  await expectPageSizes(world, "/dm/conversations", "items");
});

rule("8.page.messages", async (world) => {
  const { conversationId = "" } = await act(world, "dm.message", { count: 51 });
  await expectPageSizes(world, messagesOf(conversationId), "items");
});

rule("8.page.events", async (world) => {
  await act(world, "like", { count: 51 });
  await expectPageSizes(world, "/events", "events");
});

rule("8.webhooks", async (world) => {
  const first = await webhook(world);
  const second = await endpoint();
  await saveWebhook(world, { url: second.url });
  const { id } = await eventOf(act(world, "like"));
  expect(idsOf((await second.next()).events)).toEqual([id]);
  await attempted(world, id);
  expect(first.deliveries).toEqual([]);
});

rule("8.replay", async (world) => {
  const hook = await webhook(world, { replies: [500] });
  const { id } = await eventOf(act(world, "like"));
  const times: number[] = [];
  for (let attempt = 1; attempt <= 9; attempt += 1) {
    const delivery = await hook.next();
    times.push(Number(delivery.signature.t));
    expect(isSignedWith(hook.secret, delivery)).toBe(true);
    await attempted(world, id, attempt);
    await advance(world, 45 * SECOND);
  }
  // If every attempt had the same signature, the bot would reject the last ones as replays.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(300);
  expect(new Set(times).size).toBe(times.length);
});

rule("8.retry", async (world) => {
  await freeze(world);
  const hook = await webhook(world, { replies: [500, 500, 200] });
  const { id } = await eventOf(act(world, "like"));
  const times: number[] = [];
  for (const attempt of [1, 2, 3]) {
    times.push(Number((await hook.next()).signature.t));
    await attempted(world, id, attempt);
    // Advance the clock in steps, so that each round has its own timestamp.
    for (let passed = 0; passed < 40; passed += 5) await advance(world, 5 * SECOND);
  }
  const [first = 0, second = 0, third = 0] = times;
  for (const interval of [second - first, third - second]) {
    expect(interval).toBeGreaterThanOrEqual(25);
    expect(interval).toBeLessThanOrEqual(35);
  }
});

rule("8.polling", async (world) => {
  const made: string[] = [];
  const seen: string[] = [];
  let { cursor } = await events(world, "?since=");
  for (let poll = 1; poll <= 20; poll += 1) {
    if (poll % 3 === 0) made.push(...idsOf((await act(world, "like", { count: 2 })).events));
    await advance(world, 3 * SECOND);
    const page = await events(world, `?since=${cursor}`);
    seen.push(...idsOf(page.events));
    cursor = page.cursor;
  }
  expect(seen).toEqual(made);
});

rule("8.rate", async (world) => {
  await freeze(world);
  await setLimits(world, { requestsPerMinute: 3 });
  const statuses = async () => {
    const found: number[] = [];
    for (let nth = 1; nth <= 4; nth += 1) found.push((await get(world, "/me")).status);
    return found;
  };
  expect(await statuses()).toEqual([200, 200, 200, 429]);
  await advance(world, MINUTE);
  expect(await statuses()).toEqual([200, 200, 200, 429]);
});

rule("8.rate.app", async (world) => {
  await freeze(world);
  const reader = await tokenWith(world, "read");
  const other = await tokenOfOtherApp(world);
  await setLimits(world, { requestsPerMinute: 1 });
  expect((await get(world, "/me")).status).toBe(200);
  expect((await get(world, "/me", reader)).status).toBe(429);
  expect((await get(world, "/me", other)).status).toBe(200);
});

rule("8.quota.posts", async (world) => {
  await setLimits(world, { postsPerDay: 2 });
  await newPost(world);
  await newPost(world);
  expect((await post(world, "/posts", { text: "one more" })).status).toBe(429);
});

rule("8.quota.comments", async (world) => {
  const path = `/posts/${(await newPost(world)).id}/comments`;
  await setLimits(world, { commentsPerDay: 2 });
  for (const text of ["one", "two"]) expect((await post(world, path, { text })).status).toBe(201);
  expect((await post(world, path, { text: "three" })).status).toBe(429);
});

rule("8.quota.apart", async (world) => {
  const [posts, comments, messages] = await writePaths(world);
  const hi = { text: "hi" };
  const writes = [
    ["postsPerDay", posts, hi],
    ["commentsPerDay", comments, hi],
    ["dmsPerDay", messages, hi],
    ["uploadsPerDay", "/uploads", rawBytes(await image())],
  ] as const;
  for (const [usedUp] of writes) {
    await setLimits(world, { [usedUp]: 0 });
    for (const [quota, path, body] of writes) {
      const { status } = await post(world, path, body);
      const blocked = quota === usedUp;
      expect({ usedUp, quota, blocked: status === 429 }).toEqual({ usedUp, quota, blocked });
    }
    await setLimits(world, { [usedUp]: 1_000 });
  }
});

rule("8.quota.day", async (world) => {
  const body = rawBytes(await image());
  const messages = messagesOf(await conversationWith(world));
  const { id } = await newPost(world);
  await setLimits(world, { uploadsPerDay: 1, dmsPerDay: 1, postsPerDay: 2, commentsPerDay: 1 });
  const writeAll = async () => [
    (await post(world, "/uploads", body)).status,
    (await post(world, messages, { text: "hi" })).status,
    (await post(world, "/posts", { text: "hi" })).status,
    (await post(world, `/posts/${id}/comments`, { text: "hi" })).status,
  ];
  await freeze(world);
  await newPost(world);
  await writeAll();
  expect(await writeAll()).toEqual([429, 429, 429, 429]);
  await advance(world, DAY);
  expect(await writeAll()).toEqual([200, 201, 201, 201]);
});
