import { expect } from "vitest";
import { answer, call, expectRefusal, get, post, read } from "./http.ts";
import { rule } from "./rule.ts";
import {
  conversationWith,
  messagesOf,
  newComment,
  newKeys,
  newPost,
  tokenWith,
  writePaths,
} from "./setup.ts";
import type { Content, Page } from "./wire.ts";
import type { World } from "./world.ts";

/** Section 4: rules for all endpoints, "Attaching images", "Other read endpoints". */

/** Lists a valid call to every endpoint in the section. */
async function everyEndpoint(world: World): Promise<readonly (readonly [string, string])[]> {
  const { id } = await newPost(world);
  const messages = messagesOf(await conversationWith(world));
  return [
    ["GET", "/me"],
    ["GET", "/feed"],
    ["GET", `/posts/${id}`],
    ["GET", `/posts/${id}/comments`],
    ["GET", "/users/ada"],
    ["GET", "/search?q=ada"],
    ["GET", "/events"],
    ["GET", "/dm/conversations"],
    ["GET", messages],
    ["POST", "/posts"],
    ["POST", `/posts/${id}/comments`],
    ["POST", messages],
    ["POST", "/uploads"],
  ];
}

const sending = (method: string) => (method === "GET" ? {} : { body: { text: "hello" } });

rule("4.base.path", async (world) => {
  expect((await get(world, "/me")).status).toBe(200);
  const headers = { authorization: `Bearer ${world.token}` };
  for (const path of ["/me", "/v1/me", "/api/me", "/api/v2/me"]) {
    expect((await answer(world, path, { headers })).status).toBe(404);
  }
});

rule("4.base.bearer", async (world) => {
  for (const [method, path] of await everyEndpoint(world)) {
    const { status, body } = await answer<unknown>(world, `/api/v1${path}`, { method });
    expect({ path, status, body }).toMatchObject({ path, status: 401, body: { error: {} } });
  }
});

rule("4.base.json", async (world) => {
  for (const [method, path] of [...(await everyEndpoint(world)), ["GET", "/nothing"] as const]) {
    const { headers, body } = await call<unknown>(world, method, path, sending(method));
    expect(headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(body).toEqual(expect.any(Object));
  }
});

rule("4.images.where", async (world) => {
  for (const path of await writePaths(world)) {
    const imageKeys = await newKeys(world, 1);
    const { status } = await post(world, path, { text: "look", imageKeys });
    expect({ path, status }).toEqual({ path, status: 201 });
    const again = await post(world, path, { text: "look", imageKeys });
    expectRefusal(again, 400, "INVALID_IMAGE_KEY");
  }
});

rule("4.images.1", async (world) => {
  const [key = ""] = await newKeys(world, 1);
  for (const imageKeys of [key, { 0: key }, [5], [[key]], true]) {
    const { status } = await post(world, "/posts", { text: "look", imageKeys });
    expect({ imageKeys, status }).toEqual({ imageKeys, status: 400 });
  }
  expect((await newPost(world, { imageKeys: [key] })).images).toHaveLength(1);
});

rule("4.images.2.text", async (world) => {
  for (const path of await writePaths(world)) {
    expect((await post(world, path, { text: "hello" })).status).toBe(201);
  }
});

rule("4.images.2.image", async (world) => {
  for (const path of await writePaths(world)) {
    const imageKeys = await newKeys(world, 1);
    expect((await post(world, path, { imageKeys })).status).toBe(201);
  }
});

rule("4.images.2.neither", async (world) => {
  for (const path of await writePaths(world)) {
    for (const body of [{}, { imageKeys: [] }, { text: "" }]) {
      expect((await post(world, path, body)).status).toBe(400);
    }
  }
});

rule("4.images.3", async (world) => {
  const keys = await newKeys(world, 3);
  expect((await newPost(world, { imageKeys: keys })).images).toHaveLength(3);
  for (const key of keys) {
    expectRefusal(await post(world, "/posts", { imageKeys: [key] }), 400, "INVALID_IMAGE_KEY");
  }
});

rule("4.images.4.posts", async (world) => {
  const without = await tokenWith(world, "read", "comments:write", "dm");
  expectRefusal(await post(world, "/posts", { text: "hi" }, without), 403, "AGENT_SCOPE_MISSING");
  const token = await tokenWith(world, "posts:write");
  expect((await post(world, "/posts", { text: "hi" }, token)).status).toBe(201);
});

rule("4.images.4.comments", async (world) => {
  const path = `/posts/${(await newPost(world)).id}/comments`;
  const without = await tokenWith(world, "read", "posts:write", "dm");
  expectRefusal(await post(world, path, { text: "hi" }, without), 403, "AGENT_SCOPE_MISSING");
  const token = await tokenWith(world, "comments:write");
  expect((await post(world, path, { text: "hi" }, token)).status).toBe(201);
});

rule("4.read.me", async (world) => {
  expect(await read(world, "/me")).toMatchObject({ username: "bot" });
});

rule("4.read.feed", async (world) => {
  const { id } = await newPost(world);
  const { items } = await read<Page<Content>>(world, "/feed");
  expect(items.map((item) => item.id)).toContain(id);
});

rule("4.read.post", async (world) => {
  const { id } = await newPost(world, { text: "read me" });
  expect(await read(world, `/posts/${id}`)).toMatchObject({ id, text: "read me" });
});

rule("4.read.comments", async (world) => {
  const { id: postId } = await newPost(world);
  const { id } = await newComment(world, { text: "read me" }, postId);
  const { items } = await read<Page<Content>>(world, `/posts/${postId}/comments`);
  expect(items).toEqual([expect.objectContaining({ id, text: "read me" })]);
});

rule("4.read.user", async (world) => {
  expect(await read(world, "/users/ada")).toMatchObject({ username: "ada" });
  expect((await get(world, "/users/nobody")).status).toBe(404);
});

rule("4.read.search", async (world) => {
  const { id } = await newPost(world, { text: "a needle in here" });
  expect(JSON.stringify(await read(world, "/search?q=needle"))).toContain(`"${id}"`);
});
