import supertest from "supertest";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { runPlatform, withControlToken } from "../support/platform.ts";

function portOf(platform: Platform): string {
  return new URL(platform.url).port;
}

test("the origin must have the spelling of the requested host", async () => {
  const platform = await runPlatform();
  const { status } = await supertest(platform.url)
    .get("/control/v1/state")
    .set(withControlToken(platform))
    .set("Origin", `http://localhost:${portOf(platform)}`);
  expect(status).toBe(403);
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "image/png",
])("the control API rejects a write with %s", async (type) => {
  const platform = await runPlatform();
  for (const path of ["/control/v1/act", "/control/v1/webhook/secret", "/control/v1/tokens"]) {
    const { status, body } = await supertest(platform.url)
      .post(path)
      .set(withControlToken(platform))
      .set("Content-Type", type)
      .send('{"type":"follow","from":"ada"}');
    expect(status).toBe(415);
    expect(body.error.code).toBe("UNSUPPORTED_MEDIA_TYPE");
  }
  expect(platform.control.events()).toEqual([]);
});

test("even a request without a body needs the JSON content type", async () => {
  const platform = await runPlatform();
  const secret = platform.webhookSecret;
  const { status } = await supertest(platform.url)
    .post("/control/v1/webhook/secret")
    .set(withControlToken(platform));
  expect(status).toBe(415);
  expect(platform.webhookSecret).toBe(secret);
  const withType = await supertest(platform.url)
    .post("/control/v1/webhook/secret")
    .set(withControlToken(platform))
    .set("Content-Type", "application/json");
  expect(withType.status).toBe(201);
});

test("other pages may not read any response", async () => {
  const platform = await runPlatform();
  const { headers } = await supertest(platform.url)
    .get("/control/v1/state")
    .set(withControlToken(platform));
  expect(headers).not.toHaveProperty("access-control-allow-origin");
});
