import { expect } from "vitest";
import { image } from "../support/images.ts";
import { answer, expectRefusal, get, post, read } from "./http.ts";
import { rule, rulesOf } from "./rule.ts";
import {
  act,
  advance,
  conversationOfOthers,
  conversationWith,
  eventOf,
  idsOf,
  messagesOf,
  now,
  rawBytes,
  SECOND,
  tokenWith,
  writePaths,
} from "./setup.ts";
import { attempted, isSignedWith, webhook } from "./webhook.ts";
import type { Conversation, Page } from "./wire.ts";
import type { Scope, World } from "./world.ts";

/** Section 5: tokens, scopes, signatures. */

/** Returns the statuses of the reads and of each kind of write for a token with one scope. */
async function opened(world: World, scope: Scope): Promise<Record<string, unknown>> {
  const [posts, comments, messages] = await writePaths(world);
  const token = await tokenWith(world, scope);
  const reads = ["/me", "/feed", "/users/ada", "/search?q=a", comments.replace("/comments", "")];
  const statuses = [];
  for (const path of [...reads, comments]) statuses.push((await get(world, path, token)).status);
  const send = async (path: string) => (await post(world, path, { text: "hi" }, token)).status;
  return {
    reads: statuses,
    conversations: (await get(world, "/dm/conversations", token)).status,
    post: await send(posts),
    comment: await send(comments),
    message: await send(messages),
  };
}

const nothing = { post: 403, comment: 403, message: 403 };

rule("5.1.token", async (world) => {
  const headers = { authorization: `Bearer ${world.token}` };
  expect((await answer(world, `/api/v1/me`, { headers })).status).toBe(200);
});

rule("5.1.other", async (world) => {
  const { token } = world;
  const basic = Buffer.from(`bot:${token}`).toString("base64");
  const others = [`Bearer ${token}x`, `Bearer ${token} x`, "Bearer", "Bearer undefined", token];
  for (const authorization of [...others, `Basic ${basic}`]) {
    const { status } = await answer(world, `/api/v1/me`, { headers: { authorization } });
    expect({ authorization, status }).toEqual({ authorization, status: 401 });
  }
  const inQuery = await answer(world, `/api/v1/me?api_key=${token}&access_token=${token}`, {});
  expect(inQuery.status).toBe(401);
});

rule("5.2.read", async (world) => {
  expect(await opened(world, "read")).toMatchObject({ ...nothing, reads: Array(6).fill(200) });
});

rule("5.2.posts", async (world) => {
  expect(await opened(world, "posts:write")).toMatchObject({ ...nothing, post: 201 });
});

rule("5.2.comments", async (world) => {
  expect(await opened(world, "comments:write")).toMatchObject({ ...nothing, comment: 201 });
});

rule("5.2.dm", async (world) => {
  const expected = { ...nothing, conversations: 200, message: 201 };
  expect(await opened(world, "dm")).toMatchObject(expected);
});

rule("5.3.dm", async (world) => {
  const path = messagesOf(await conversationWith(world));
  const token = await tokenWith(world, "read", "posts:write", "comments:write");
  expect((await get(world, "/dm/conversations", token)).status).toBe(403);
  expect((await get(world, path, token)).status).toBe(403);
  expect((await post(world, path, { text: "hi" }, token)).status).toBe(403);
});

rule("5.3.uploads", async (world) => {
  const body = rawBytes(await image());
  expect((await post(world, "/uploads", body, await tokenWith(world, "read"))).status).toBe(403);
  const { status } = await post(world, "/uploads", body, await tokenWith(world, "read", "dm"));
  expect(status).toBe(200);
});

rule("5.3.events", async (world) => {
  const writing = await tokenWith(world, "posts:write", "comments:write");
  expect((await get(world, "/events", writing)).status).toBe(403);
  const reading = await tokenWith(world, "posts:write", "comments:write", "read");
  expect((await get(world, "/events", reading)).status).toBe(200);
});

rule("5.4", async (world) => {
  const [posts, comments, messages] = await writePaths(world);
  const token = await tokenWith(world, "read");
  const code = "AGENT_SCOPE_MISSING";
  for (const path of [posts, comments, messages]) {
    expectRefusal(await post(world, path, { text: "hi" }, token), 403, code);
  }
  expectRefusal(await post(world, "/uploads", rawBytes(await image()), token), 403, code);
  expectRefusal(await get(world, "/dm/conversations", token), 403, code);
  expectRefusal(await get(world, messages, token), 403, code);
});

rule("5.5", async (world) => {
  const own = await conversationWith(world);
  const others = await conversationOfOthers(world);
  const { items } = await read<Page<Conversation>>(world, "/dm/conversations");
  expect(idsOf(items)).toEqual([own]);
  expect((await get(world, messagesOf(own))).status).toBe(200);
  expect((await get(world, messagesOf(others))).status).toBe(404);
  expect((await post(world, messagesOf(others), { text: "hi" })).status).toBe(404);
});

async function signedDelivery(world: World) {
  const hook = await webhook(world);
  await act(world, "like");
  return { secret: hook.secret, delivery: await hook.next() };
}

rulesOf(signedDelivery, {
  "5.6.form": ({ delivery: { headers } }) =>
    expect(headers["x-service-signature"]).toMatch(/^t=[1-9]\d{9},v1=[0-9a-f]+$/),
  "5.6.hmac": ({ secret, delivery }) => {
    expect(isSignedWith(secret, delivery)).toBe(true);
    const { t } = delivery.signature;
    const later = { ...delivery, signature: { ...delivery.signature, t: `${Number(t) + 1}` } };
    expect(isSignedWith(secret, later)).toBe(false);
    const longer = { ...delivery, body: Buffer.concat([delivery.body, Buffer.from(" ")]) };
    expect(isSignedWith(secret, longer)).toBe(false);
  },
  "5.6.key": ({ secret, delivery }) => {
    expect(isSignedWith(secret, delivery)).toBe(true);
    expect(isSignedWith(secret.slice("whsec_".length), delivery)).toBe(false);
    expect(isSignedWith(`${secret}x`, delivery)).toBe(false);
  },
});

rule("5.7.raw", async (world) => {
  const hook = await webhook(world);
  // JSON allows more than one spelling for each of these values.
  const text = 'grüße 🙂 \u2028 </script> "\\/\u0001';
  await act(world, "dm.message", { text });
  const delivery = await hook.next();
  expect(delivery.events[0]?.payload).toMatchObject({ excerpt: text });
  expect(isSignedWith(hook.secret, delivery)).toBe(true);
  const respelled = Buffer.from(JSON.stringify(JSON.parse(delivery.body.toString()), null, 1));
  expect(isSignedWith(hook.secret, { ...delivery, body: respelled })).toBe(false);
});

rule("5.7.constant-time", async (world) => {
  const hook = await webhook(world);
  for (let nth = 1; nth <= 10; nth += 1) {
    await act(world, "like");
    expect((await hook.next()).signature.v1).toHaveLength(64);
  }
});

rule("5.7.window", async (world) => {
  const hook = await webhook(world);
  await act(world, "like");
  const { signature } = await hook.next();
  const difference = (await now(world)) / 1000 - Number(signature.t);
  expect(Math.abs(difference)).toBeLessThan(60);
});

rule("5.7.refusal", async (world) => {
  const hook = await webhook(world, { replies: [400, 401, 200] });
  const { id } = await eventOf(act(world, "like"));
  for (const attempt of [1, 2, 3]) {
    expect(idsOf((await hook.next()).events)).toEqual([id]);
    await attempted(world, id, attempt);
    await advance(world, 40 * SECOND);
  }
});
