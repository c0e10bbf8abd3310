import { expect, test } from "vitest";
import { type ErrorBody, request, runPlatform } from "../support/platform.ts";

test.each([
  ["GET", "/api/v1/nothing"],
  ["POST", "/api/v1/likes"],
  ["GET", "/api/v1"],
  ["GET", "/api/v1/ME"],
  ["GET", "/api/v1/me/"],
  ["GET", "/API/v1/me"],
  ["GET", "/control/v1/state/"],
  ["GET", "/control/v1/nothing"],
  ["GET", "/nothing"],
])("%s %s gets 404 NOT_FOUND", async (method, path) => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, method, path);
  expect(status).toBe(404);
  expect(body).toEqual({ error: { code: "NOT_FOUND", message: expect.any(String) } });
});

test("GET / explains how to write to the bot", async () => {
  const platform = await runPlatform();
  const response = await fetch(platform.url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/plain");
  expect(await response.text()).toContain(`--platform ${platform.url}`);
});

test.each([
  ["DELETE", "/api/v1/posts/p_1", "GET"],
  ["PUT", "/api/v1/dm/conversations/c_1/messages", "GET, POST"],
  ["GET", "/api/v1/uploads", "POST"],
  ["POST", "/api/v1/search", "GET"],
  ["DELETE", "/api/v1/users/ada", "GET"],
  ["DELETE", "/control/v1/webhook", "GET, PUT"],
])("%s %s gets 405 and the methods %s", async (method, path, allow) => {
  const platform = await runPlatform();
  const { status, headers, body } = await request(platform, method, path);
  expect(status).toBe(405);
  expect(headers.get("allow")).toBe(allow);
  expect(body.error.code).toBe("METHOD_NOT_ALLOWED");
});

async function post(
  url: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string>,
) {
  const response = await fetch(url, { method: "POST", body, headers });
  return { status: response.status, body: (await response.json()) as ErrorBody };
}

test.each(["{", "", "\u00ff\u00fe", "{'text': 1}"])("the body %j is not JSON", async (text) => {
  const platform = await runPlatform();
  const headers = {
    authorization: `Bearer ${platform.apiKey}`,
    "content-type": "application/json",
  };
  const { status, body } = await post(`${platform.url}/api/v1/posts`, text, headers);
  expect(status).toBe(400);
  expect(body.error.code).toBe("VALIDATION");
});

test("a body that is not UTF-8 is rejected", async () => {
  const platform = await runPlatform();
  const headers = {
    authorization: `Bearer ${platform.apiKey}`,
    "content-type": "application/json",
  };
  const bytes = Buffer.from([...Buffer.from('{"text":"'), 0xff, ...Buffer.from('"}')]);
  const { status, body } = await post(`${platform.url}/api/v1/posts`, bytes, headers);
  expect(status).toBe(400);
  expect(body.error.code).toBe("VALIDATION");
});

test("a body with a content type other than JSON gets 415", async () => {
  const platform = await runPlatform();
  const headers = { authorization: `Bearer ${platform.apiKey}`, "content-type": "text/plain" };
  const { status, body } = await post(`${platform.url}/api/v1/posts`, '{"text":"a"}', headers);
  expect(status).toBe(415);
  expect(body.error.code).toBe("UNSUPPORTED_MEDIA_TYPE");
});

test("a body of 1 MB is read, and a larger body gets 413", async () => {
  const platform = await runPlatform();
  const frame = Buffer.byteLength('{"text":"hi","x":""}');
  const body = (bytes: number) => ({ text: "hi", x: "x".repeat(bytes - frame) });
  const fits = await request(platform, "POST", "/api/v1/posts", { body: body(1024 * 1024) });
  expect(fits.status).toBe(201);
  const over = await request(platform, "POST", "/api/v1/posts", { body: body(1024 * 1024 + 1) });
  expect(over.status).toBe(413);
  expect(over.body.error.code).toBe("TOO_LARGE");
});

test("a body of a million small values gets 413", async () => {
  const platform = await runPlatform();
  const body = { text: "hi", x: Array(340_000).fill([]) };
  const { status, body: refused } = await request(platform, "POST", "/api/v1/posts", { body });
  expect([status, refused.error.code]).toEqual([413, "TOO_LARGE"]);
});

test("a path that cannot be decoded gets 400", async () => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", "/api/v1/posts/%E0%A4%A");
  expect(status).toBe(400);
  expect(body.error.code).toBe("VALIDATION");
});

test("responses do not name the server software", async () => {
  const platform = await runPlatform();
  const { headers } = await request(platform, "GET", "/api/v1/me");
  expect(headers.get("x-powered-by")).toBeNull();
});
