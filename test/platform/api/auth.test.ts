import { expect, test } from "vitest";
import type { Scope } from "../../faces/platform.ts";
import { type ErrorBody, request, runPlatform, tokenWith } from "../support/platform.ts";

test("a request without a token gets 401 UNAUTHORIZED", async () => {
  const platform = await runPlatform();
  const response = await fetch(`${platform.url}/api/v1/me`);
  const body = (await response.json()) as ErrorBody;
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(Object.keys(body)).toEqual(["error"]);
  expect(Object.keys(body.error)).toEqual(["code", "message"]);
  expect(body.error.code).toBe("UNAUTHORIZED");
});

test.each(["sbk_wrong", "", "sbk_wrong extra"])("the token %j is not valid", async (token) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", "/api/v1/me", { token });
  expect(status).toBe(401);
  expect(body.error.code).toBe("UNAUTHORIZED");
});

test("the authorization scheme is case-insensitive", async () => {
  const platform = await runPlatform();
  const response = await fetch(`${platform.url}/api/v1/me`, {
    headers: { authorization: `bearer ${platform.apiKey}` },
  });
  expect(response.status).toBe(200);
});

test("one platform's token is not valid on another platform", async () => {
  const [one, other] = [await runPlatform(), await runPlatform()];
  const { status } = await request(one, "GET", "/api/v1/me", { token: other.apiKey });
  expect(status).toBe(401);
});

const table: readonly [string, string, Scope][] = [
  ["GET", "/me", "read"],
  ["GET", "/feed", "read"],
  ["GET", "/users/ada", "read"],
  ["GET", "/search?q=a", "read"],
  ["GET", "/posts/p_1", "read"],
  ["GET", "/posts/p_1/comments", "read"],
  ["POST", "/posts", "posts:write"],
  ["POST", "/posts/p_1/comments", "comments:write"],
  ["GET", "/dm/conversations", "dm"],
  ["GET", "/dm/conversations/c_2/messages", "dm"],
  ["POST", "/dm/conversations/c_2/messages", "dm"],
];

test.each(table)("%s %s needs the scope %s, and no other", async (method, path, scope) => {
  const platform = await runPlatform();
  platform.control.act({ type: "dm.message", from: "ada" });
  const body = method === "POST" ? { text: "hi" } : undefined;
  const others = (["read", "posts:write", "comments:write", "dm"] as const).filter(
    (other) => other !== scope,
  );
  const without = await request(platform, method, `/api/v1${path}`, {
    body,
    token: tokenWith(platform, ...others),
  });
  expect(without.status).toBe(403);
  expect(without.body.error.code).toBe("AGENT_SCOPE_MISSING");
  const withIt = await request(platform, method, `/api/v1${path}`, {
    body,
    token: tokenWith(platform, scope),
  });
  expect(withIt.status).toBe(method === "POST" ? 201 : 200);
});

test("a missing scope is reported before any problem with the target", async () => {
  const platform = await runPlatform();
  const { status } = await request(platform, "GET", "/api/v1/posts/p_999", {
    token: tokenWith(platform, "dm"),
  });
  expect(status).toBe(403);
});
