import supertest from "supertest";
import { describe, expect, test } from "vitest";
import type { Platform } from "../../../src/platform/index.ts";
import { runPlatform } from "../support/platform.ts";

const follow = { type: "follow", from: "ada" };

function read(platform: Platform, headers: Readonly<Record<string, string>>) {
  return supertest(platform.url).get("/control/v1/state").set(headers);
}

function write(platform: Platform, headers: Readonly<Record<string, string>>) {
  return supertest(platform.url).post("/control/v1/act").set(headers).send(follow);
}

describe("what a browser sends", () => {
  test.each([
    ["an image or a script of another site", { "Sec-Fetch-Site": "cross-site" }],
    ["another port", { "Sec-Fetch-Site": "same-site" }],
    ["the address bar", { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" }],
    ["the page without its token", { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors" }],
    ["a browser that says the mode alone", { "Sec-Fetch-Mode": "no-cors" }],
  ])("is refused without the token: %s", async (_, headers) => {
    const platform = await runPlatform();
    for (const { status, body } of [
      await read(platform, headers),
      await write(platform, headers),
    ]) {
      expect(status).toBe(403);
      expect(body.error.code).toBe("FORBIDDEN");
      expect(body.error.message).toContain("X-Portal-Token");
    }
    expect(platform.control.events()).toEqual([]);
  });

  test("is refused with our own origin, but without the token", async () => {
    const platform = await runPlatform();
    expect((await write(platform, { Origin: platform.url })).status).toBe(403);
    expect(platform.control.events()).toEqual([]);
  });

  test.each([
    "null",
    "https://rebound.example",
    "http://127.0.0.1:1",
    "http://localhost",
    "file://",
    "",
  ])("is refused from the origin %j, with the token too", async (origin) => {
    const platform = await runPlatform();
    const headers = { Origin: origin, "X-Portal-Token": platform.portalToken };
    expect((await write(platform, headers)).status).toBe(403);
    const secure = platform.url.replace("http:", "https:");
    expect((await write(platform, { ...headers, Origin: secure })).status).toBe(403);
    expect(platform.control.events()).toEqual([]);
  });

  test("is answered with the token of this run", async () => {
    const platform = await runPlatform();
    const token = { "X-Portal-Token": platform.portalToken };
    const own = { Origin: platform.url, "Sec-Fetch-Site": "same-origin", ...token };
    expect((await read(platform, own)).status).toBe(200);
    expect((await write(platform, own)).status).toBe(201);
  });

  test("is refused with another token, of another length or run", async () => {
    const [platform, another] = [await runPlatform(), await runPlatform()];
    const { portalToken } = platform;
    const wrong = ["", "x", portalToken.slice(1), `${portalToken}x`, another.portalToken];
    for (const token of wrong) {
      const headers = { Origin: platform.url, "X-Portal-Token": token };
      const { status, body } = await read(platform, headers);
      expect(status).toBe(403);
      expect(body.error.message).toContain("Reload the page");
    }
  });

  test("gives its token in the query for the stream alone", async () => {
    const platform = await runPlatform();
    const ask = (path: string, token: string) =>
      supertest(platform.url)
        .get(`/control/v1${path}?after=0&token=${token}`)
        .set("Sec-Fetch-Site", "same-origin")
        .timeout({ response: 5_000 });
    expect((await ask("/state", platform.portalToken)).status).toBe(403);
    expect((await ask("/stream", "wrong")).status).toBe(403);
    expect((await ask("/stream", `${platform.portalToken}&token=x`)).status).toBe(403);
  });
});

test.each([
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain",
  "image/png",
])("a form of another site is refused as %s, with and without its traces", async (type) => {
  const platform = await runPlatform();
  const origin = "https://rebound.example";
  for (const headers of [{}, { Origin: origin }, { Origin: origin, "Sec-Fetch-Site": "none" }]) {
    for (const path of ["/act", "/reset", "/import", "/deliveries", "/deliveries/curl"]) {
      const { status } = await supertest(platform.url)
        .post(`/control/v1${path}`)
        .set({ "Content-Type": type, ...headers })
        .send(JSON.stringify(follow));
      expect([403, 415]).toContain(status);
    }
  }
  expect(platform.control.events()).toEqual([]);
});

test("the bytes of an image pass to the one endpoint that takes them", async () => {
  const platform = await runPlatform();
  const send = (type: string) =>
    supertest(platform.url).post("/control/v1/images").set("Content-Type", type).send("x");
  expect((await send("image/png")).status).not.toBe(415);
  expect((await send("image/png, text/plain")).status).toBe(415);
  expect((await send("text/plain")).status).toBe(415);
});

test("other programs on this machine need no token, Node's fetch among them", async () => {
  const platform = await runPlatform();
  expect((await read(platform, {})).status).toBe(200);
  expect((await fetch(`${platform.url}/control/v1/state`)).status).toBe(200);
});

test.each(["X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded"])(
  "what a proxy passes on with %s needs the token, although it comes over loopback",
  async (name) => {
    const platform = await runPlatform();
    expect((await read(platform, { [name]: "203.0.113.1" })).status).toBe(403);
    const page = await supertest(platform.url)
      .get("/")
      .set({ [name]: "203.0.113.1", Accept: "text/html" });
    expect(page.text).not.toContain(platform.portalToken);
    const token = { "X-Portal-Token": platform.portalToken };
    expect((await read(platform, { [name]: "203.0.113.1", ...token })).status).toBe(200);
  },
);

test("a name of its own, such as that of a proxy here, needs the token", async () => {
  const platform = await runPlatform({ allowHosts: ["platform.test"] });
  expect((await read(platform, { Host: "platform.test" })).status).toBe(403);
  const token = { "X-Portal-Token": platform.portalToken };
  expect((await read(platform, { Host: "platform.test", ...token })).status).toBe(200);
});

test("each run has a token of its own, which is no other secret", async () => {
  const [one, other] = [await runPlatform(), await runPlatform()];
  expect(one.portalToken).toMatch(/^[\w-]{32}$/);
  expect(one.portalToken).not.toBe(other.portalToken);
});
