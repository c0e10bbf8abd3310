import { expect, onTestFinished, vi } from "vitest";
import { answer, call, control, expectRefusal, get, post } from "../conformance/http.ts";
import {
  act,
  advance,
  conversationWith,
  eventOf,
  events,
  groupWithBot,
  idsOf,
  MINUTE,
  messagesOf,
  newPost,
  rawBytes,
  setLimits,
  tokenOfOtherApp,
  tokenWith,
  writePaths,
} from "../conformance/setup.ts";
import { webhook } from "../conformance/webhook.ts";
import type { Refusal } from "../conformance/wire.ts";
import type { World } from "../conformance/world.ts";
import { image } from "../support/images.ts";
import { choice } from "./choice.ts";

/** Half an hour before midnight UTC. */
const HALF_PAST_ELEVEN = "2030-01-31T23:30:00.000Z";

interface Usage {
  readonly limit: number | null;
  readonly used: number;
  readonly resetsAt: string;
}

function usage(world: World): Promise<Readonly<Record<string, Usage>>> {
  return control(world, "GET", "/limits");
}

function freezeAt(world: World, now: string): Promise<unknown> {
  return control(world, "PUT", "/clock", { now, frozen: true });
}

type Write = readonly [quota: string, path: string, body: unknown];

/** Returns a write for each daily quota. */
async function writes(world: World): Promise<readonly Write[]> {
  const hi = { text: "hi" };
  const [posts, comments, messages] = await writePaths(world);
  return [
    ["uploadsPerDay", "/uploads", rawBytes(await image())],
    ["postsPerDay", posts, hi],
    ["commentsPerDay", comments, hi],
    ["dmsPerDay", messages, hi],
  ];
}

choice("error bodies", async (world) => {
  const { body } = await get(world, "/nothing");
  expect(Object.keys(body)).toEqual(["error"]);
  expect(Object.keys(body.error)).toEqual(["code", "message"]);
});

choice("missing or invalid token", async (world) => {
  for (const headers of [{}, { authorization: "Bearer sbk_wrong" }]) {
    // The body never ends, so that reading it would time out.
    const body = new ReadableStream();
    const init = { method: "POST", headers, body, duplex: "half" } as const;
    const refused = await answer<Refusal>(world, "/api/v1/posts", init);
    expectRefusal(refused, 401, "UNAUTHORIZED");
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  }
  const headers = { authorization: `bearer ${world.token}` };
  expect((await answer(world, "/api/v1/me", { headers })).status).toBe(200);
});

choice("scopes of reads", async (world) => {
  const { id } = await newPost(world);
  const paths = ["/me", "/feed", "/users/ada", "/search?q=a", `/posts/${id}`];
  const reader = await tokenWith(world, "read");
  const writer = await tokenWith(world, "posts:write", "comments:write", "dm");
  for (const path of [...paths, `/posts/${id}/comments`]) {
    expect((await get(world, path, reader)).status).toBe(200);
    expectRefusal(await get(world, path, writer), 403, "AGENT_SCOPE_MISSING");
  }
  const token = await tokenWith(world, "posts:write");
  expectRefusal(await get(world, "/events", token), 403, "AGENT_SCOPE_MISSING");
});

choice("order of checks", async (world) => {
  const own = await conversationWith(world);
  const group = await groupWithBot(world);
  const reader = await tokenWith(world, "read");
  // Everything is wrong at first, and each step puts one thing right.
  await setLimits(world, { requestsPerMinute: 0, dmsPerDay: 0 });
  await control(world, "PUT", "/apps/bot", { disabled: true });
  await control(world, "PUT", "/blocks", { by: "ada", whom: "bot" });
  const imageKeys = ["nothing"];
  const send = (to: string, body: unknown, token?: string) =>
    post(world, messagesOf(to), body, token);
  const json = { method: "POST", body: "{" };
  const headers = { authorization: `Bearer ${reader}`, "content-type": "application/json" };
  const path = `/api/v1${messagesOf("c_9")}`;
  expectRefusal(await answer(world, path, json), 401, "UNAUTHORIZED");
  expectRefusal(await answer(world, path, { ...json, headers }), 400, "VALIDATION");
  expectRefusal(await send("c_9", {}, reader), 403, "APP_DISABLED");
  await control(world, "PUT", "/apps/bot", { disabled: false });
  expectRefusal(await send("c_9", {}, reader), 429, "RATE_LIMITED");
  await control(world, "PUT", "/limits", { requestsPerMinute: null });
  expectRefusal(await send("c_9", {}, reader), 403, "AGENT_SCOPE_MISSING");
  expectRefusal(await send("c_9", {}), 404, "NOT_FOUND");
  expectRefusal(await send(group, {}), 400, "GROUP_UNSUPPORTED");
  expectRefusal(await send(own, {}), 403, "BLOCKED");
  await control(world, "PUT", "/blocks", { by: "ada", whom: "bot", blocked: false });
  expectRefusal(await send(own, {}), 400, "EMPTY");
  expectRefusal(await send(own, { imageKeys }), 429, "QUOTA_EXCEEDED");
  await control(world, "PUT", "/limits", { dmsPerDay: null });
  expectRefusal(await send(own, { imageKeys }), 400, "INVALID_IMAGE_KEY");
  expect((await send(own, { text: "hi" })).status).toBe(201);
});

choice("unknown path or wrong method", async (world) => {
  const missing = ["", "/nothing", "/ME", "/me/", "/users/nobody", "/users/u_2", "/users/%20"];
  for (const path of [...missing, "/posts/p_9", "/posts/1", "/posts/p_01", "/posts/p_9/comments"]) {
    expectRefusal(await get(world, path), 404, "NOT_FOUND");
  }
  for (const path of ["/likes", "/posts/p_9/comments"]) {
    expectRefusal(await post(world, path, { text: "hi" }), 404, "NOT_FOUND");
  }
  for (const [method, path, allow] of [
    ["DELETE", "/posts/p_1", "GET"],
    ["PUT", "/dm/conversations/c_1/messages", "GET, POST"],
    ["GET", "/uploads", "POST"],
    ["POST", "/search", "GET"],
  ] as const) {
    const refused = await call(world, method, path);
    expectRefusal(refused, 405, "METHOD_NOT_ALLOWED");
    expect(refused.headers.get("allow")).toBe(allow);
  }
  expectRefusal(await get(world, "/posts/%E0%A4%A"), 400, "VALIDATION");
});

choice("bodies", async (world) => {
  const headers = { authorization: `Bearer ${world.token}`, "content-type": "application/json" };
  const send = (body: string | Buffer<ArrayBuffer>, type = "application/json") =>
    answer(world, "/api/v1/posts", {
      method: "POST",
      body,
      headers: { ...headers, "content-type": type },
    });
  const notUtf8 = Buffer.from('{"text":"\u00ff"}', "latin1");
  for (const body of ["{", "", "{'text': 1}", "[]", '"hi"', '{"text":5}', notUtf8]) {
    expectRefusal(await send(body), 400, "VALIDATION");
  }
  expectRefusal(await post(world, "/posts", undefined), 400, "VALIDATION");
  expectRefusal(await send('{"text":"a"}', "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE");
  const frame = Buffer.byteLength('{"text":"hi","x":""}');
  const ofSize = (bytes: number) => `{"text":"hi","x":"${"x".repeat(bytes - frame)}"}`;
  expect((await send(ofSize(1024 * 1024))).status).toBe(201);
  expectRefusal(await send(ofSize(1024 * 1024 + 1)), 413, "TOO_LARGE");
  const upload = { dataBase64: "A".repeat(7 * 1024 * 1024), contentType: "image/png" };
  expectRefusal(await post(world, "/uploads", upload), 400, "TOO_LARGE");
});

choice("slow or too many bodies", async (world) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const headers = { authorization: `Bearer ${world.token}`, "content-type": "application/json" };
  const answers = Array.from({ length: 5 }, () => {
    // Never ends.
    const body = new ReadableStream({ start: (sender) => sender.enqueue(Buffer.alloc(7_000_000)) });
    const init = { method: "POST", headers, body, duplex: "half" } as const;
    return answer<Refusal>(world, "/api/v1/uploads", init);
  });
  expectRefusal(await Promise.race(answers), 503, "BUSY");
  vi.advanceTimersByTime(10_000);
  const codes = (await Promise.all(answers)).map(({ status, body }) => [status, body.error.code]);
  expect(codes.toSorted()).toEqual([...Array(4).fill([408, "TIMEOUT"]), [503, "BUSY"]]);
});

choice("page size", async (world) => {
  for (let nth = 1; nth <= 20; nth += 1) await conversationWith(world, `person${nth}`);
  const { conversationId = "" } = await act(world, "dm.message", { count: 21 });
  const { id } = await newPost(world);
  await act(world, "comment", { postId: id, count: 21 });
  await act(world, "post", { text: "person", count: 21 });
  const lists = ["/feed?", "/search?q=person&", `/posts/${id}/comments?`, "/dm/conversations?"];
  for (const list of [...lists, `${messagesOf(conversationId)}?`, "/events?"]) {
    const { body } = await get<{ items?: unknown[]; events?: unknown[] }>(world, list.slice(0, -1));
    expect({ list, size: (body.items ?? body.events)?.length }).toEqual({ list, size: 20 });
    const cursor = list === "/events?" ? "since" : "cursor";
    const wrong = ["limit=0", "limit=51", "limit=", "limit=5&limit=6", `${cursor}=x_1`];
    for (const query of [...wrong, `${cursor}=1`, `${cursor}=evt_1`, "limit=0&since="]) {
      expect({ list, query, ...(await get(world, list + query)) }).toMatchObject({
        list,
        query,
        status: 400,
        body: { error: { code: "VALIDATION" } },
      });
    }
  }
});

choice("daily quotas", async (world) => {
  await freezeAt(world, HALF_PAST_ELEVEN);
  const all = await writes(world);
  const others = await tokenOfOtherApp(world);
  const sharing = await tokenWith(world, "posts:write", "comments:write", "dm");
  for (const [quota, path, body] of all) {
    const { used = 0, limit } = (await usage(world))[quota] ?? {};
    expect(limit).toBeNull();
    await setLimits(world, { [quota]: used + 2 });
    expect((await post(world, path, body)).status).toBeLessThan(300);
    expect((await post(world, path, body, sharing)).status).toBeLessThan(300);
    const refused = await post(world, path, body);
    expectRefusal(refused, 429, "QUOTA_EXCEEDED");
    expect(refused.headers.get("retry-after")).toBe("1800");
    const resetsAt = "2030-02-01T00:00:00.000Z";
    expect((await usage(world))[quota]).toEqual({ limit: used + 2, used: used + 2, resetsAt });
    // The bot of the other app takes no part in the conversation.
    if (quota === "dmsPerDay") continue;
    expect((await post(world, path, body, others)).status).toBeLessThan(300);
  }
  await advance(world, 30 * MINUTE);
  for (const [quota, path, body] of all) {
    expect((await post(world, path, body)).status).toBeLessThan(300);
    expect((await usage(world))[quota]?.used).toBe(1);
  }
});

choice("rate limit", async (world) => {
  await freezeAt(world, "2030-01-31T23:30:20.500Z");
  const narrow = await tokenWith(world, "dm");
  const others = await tokenOfOtherApp(world);
  await setLimits(world, { requestsPerMinute: 6 });
  // Requests without a valid token, and those of the control API, do not count.
  expect((await get(world, "/me", "sbk_wrong")).status).toBe(401);
  const statuses = [
    (await get(world, "/me")).status,
    (await get(world, "/events?since=")).status,
    (await get(world, "/nothing")).status,
    (await post(world, "/posts", {})).status,
    (await get(world, "/me", narrow)).status,
    (await post(world, "/posts", { text: "hi" })).status,
  ];
  expect(statuses).toEqual([200, 200, 404, 400, 403, 201]);
  const refused = await post(world, "/posts", { text: "hi" });
  expectRefusal(refused, 429, "RATE_LIMITED");
  // 39.5 seconds are left, so a client that waited only 39 would be rejected again.
  expect(refused.headers.get("retry-after")).toBe("40");
  const { requestsPerMinute, postsPerDay } = await usage(world);
  const resetsAt = "2030-01-31T23:31:00.000Z";
  expect(requestsPerMinute).toEqual({ limit: 6, used: 7, resetsAt });
  expect(postsPerDay?.used).toBe(1);
  expect((await get(world, "/me", others)).status).toBe(200);
  await advance(world, 39_500);
  expect((await get(world, "/me")).status).toBe(200);
  expect((await usage(world))["requestsPerMinute"]?.used).toBe(1);
});

choice("disabled app", async (world) => {
  const hook = await webhook(world);
  await control(world, "PUT", "/apps/bot", { disabled: true });
  expectRefusal(await get(world, "/me"), 403, "APP_DISABLED");
  const { id: missed } = await eventOf(act(world, "like"));
  await control(world, "PUT", "/apps/bot", { disabled: false });
  const { id } = await eventOf(act(world, "like"));
  expect(idsOf((await hook.next()).events)).toEqual([id]);
  expect(idsOf((await events(world)).events)).toEqual([missed, id]);
});
