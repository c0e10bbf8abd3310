import { describe, expect, test } from "vitest";
import type { GroupResult, Platform } from "../../faces/platform.ts";
import { act, request, runPlatform } from "../support/platform.ts";

const send = (platform: Platform, conversationId: string) =>
  request(platform, "POST", `/api/v1/dm/conversations/${conversationId}/messages`, {
    body: { text: "hi" },
  });

describe("a group", () => {
  const create = (platform: Platform, body: unknown) =>
    request<GroupResult>(platform, "POST", "/control/v1/groups", { body });

  test("is created with its members, and the first one writes", async () => {
    const platform = await runPlatform();
    const { status, body } = await create(platform, {
      members: ["cleo", "@Ben", "bot"],
      text: "all here?",
    });
    expect(status).toBe(201);
    expect(body).toEqual({ conversationId: "c_2", messageId: "m_2" });
    expect(platform.control.messages("c_2")).toMatchObject([
      { authorUsername: "cleo", text: "all here?" },
    ]);
    expect(platform.control.events()).toEqual([]);
  });

  test("rejects a user's direct message to the bot", async () => {
    const platform = await runPlatform();
    const { conversationId } = (await create(platform, { members: ["ada", "bot"] })).body;
    expect(() => act(platform, "dm.message", { conversationId })).toThrow("There is no such");
  });
});

describe("a block", () => {
  const put = (platform: Platform, body: unknown) =>
    request(platform, "PUT", "/control/v1/blocks", { body });

  test.each([
    [{ by: "ada" }, { by: "ada", whom: "bot" }],
    [
      { by: "bot", whom: "ada" },
      { by: "bot", whom: "ada" },
    ],
  ])("%j stops messages both ways, and lifting it lets them through", async (body, shown) => {
    const platform = await runPlatform();
    const { conversationId = "" } = act(platform, "dm.message");
    const set = await put(platform, body);
    expect(set.status).toBe(200);
    expect(set.body).toEqual({ items: [shown] });
    expect((await request(platform, "GET", "/control/v1/blocks")).body).toEqual({ items: [shown] });
    const refused = await send(platform, conversationId);
    expect(refused.status).toBe(403);
    expect(refused.body.error.code).toBe("BLOCKED");
    expect(() => act(platform, "dm.message")).toThrow("has blocked");
    expect(platform.control.messages(conversationId)).toHaveLength(1);
    const lifted = await put(platform, { ...body, blocked: false });
    expect(lifted.body).toEqual({ items: [] });
    expect((await send(platform, conversationId)).status).toBe(201);
    expect(act(platform, "dm.message").conversationId).toBe(conversationId);
  });

  test("affects only these two users, and only messages", async () => {
    const platform = await runPlatform();
    const { conversationId = "" } = act(platform, "dm.message", { from: "ben" });
    await put(platform, { by: "ada" });
    expect((await send(platform, conversationId)).status).toBe(201);
    expect(act(platform, "mention").events).toHaveLength(1);
    const path = `/api/v1/dm/conversations/${conversationId}/messages`;
    expect((await request(platform, "GET", path)).status).toBe(200);
  });

  test("can be set twice, and lifted even if none exists", async () => {
    const platform = await runPlatform();
    await put(platform, { by: "ada" });
    expect((await put(platform, { by: "ada" })).body).toMatchObject({ items: [{ by: "ada" }] });
    expect((await put(platform, { by: "ben", blocked: false })).status).toBe(200);
  });
});

test("the storage can be switched off, and requests other than uploads still work", async () => {
  const platform = await runPlatform();
  const get = async () => (await request(platform, "GET", "/control/v1/storage")).body;
  expect(await get()).toEqual({ configured: true });
  const off = await request(platform, "PUT", "/control/v1/storage", {
    body: { configured: false },
  });
  expect(off.body).toEqual({ configured: false });
  expect(await get()).toEqual({ configured: false });
  const body = { text: "hi" };
  expect((await request(platform, "POST", "/api/v1/posts", { body })).status).toBe(201);
});
