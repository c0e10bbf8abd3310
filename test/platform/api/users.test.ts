import { expect, test } from "vitest";
import { act, request, runPlatform } from "../support/platform.ts";

test("a user is shown, and is not a bot", async () => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", "/api/v1/users/ada");
  expect(status).toBe(200);
  const avatarUrl = `${platform.url}/media/avatar.webp`;
  expect(body).toEqual({ id: "u_2", username: "ada", name: "Ada", isBot: false, avatarUrl });
});

test("a bot is labelled as one", async () => {
  const platform = await runPlatform();
  const me = await request(platform, "GET", "/api/v1/me");
  const { body } = await request(platform, "GET", "/api/v1/users/bot");
  expect(body).toEqual(me.body);
  expect(body).toMatchObject({ isBot: true });
});

test("a username is found in any case", async () => {
  const platform = await runPlatform();
  const { body } = await request(platform, "GET", "/api/v1/users/ADA");
  expect(body).toMatchObject({ username: "ada" });
});

test("a new user can be found", async () => {
  const platform = await runPlatform();
  expect((await request(platform, "GET", "/api/v1/users/cleo")).status).toBe(404);
  act(platform, "follow", { from: "cleo" });
  const { body } = await request(platform, "GET", "/api/v1/users/cleo");
  expect(body).toMatchObject({ username: "cleo", name: "Cleo" });
});

test.each(["nobody", "u_2", "@ada", "%20", "ada%00"])("there is no user %s", async (username) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", `/api/v1/users/${username}`);
  expect(status).toBe(404);
  expect(body.error).toEqual({ code: "NOT_FOUND", message: "There is no such user." });
});

test("another app's token acts as that app's bot, without effects on the first bot", async () => {
  const platform = await runPlatform();
  const token = platform.control.createToken(["read", "dm"], "other").apiKey;
  const { conversationId } = act(platform, "dm.message");
  const get = async (path: string) =>
    (await request<unknown>(platform, "GET", `/api/v1${path}`, { token })).body;
  expect(await get("/me")).toMatchObject({ username: "other", isBot: true });
  expect(await get("/events")).toEqual({ events: [], cursor: "evt_000000000000" });
  expect(await get("/dm/conversations")).toEqual({ items: [], nextCursor: null });
  expect(await get(`/dm/conversations/${conversationId}/messages`)).toMatchObject({
    error: { code: "NOT_FOUND" },
  });
  expect(() => platform.control.createToken(["read"], "ada")).toThrow(
    "bot: ada is a user, not a bot",
  );
});
