import supertest from "supertest";
import { describe, expect, test } from "vitest";
import { type Platform, startPlatform } from "../../faces/platform.ts";
import { rawRequest } from "../../support/raw-request.ts";
import { routesOf, runPlatform, withControlToken } from "../support/platform.ts";

const follow = { type: "follow", from: "ada" };

function read(platform: Platform, headers: Readonly<Record<string, string>>) {
  return supertest(platform.url).get("/control/v1/state").set(headers);
}

function write(platform: Platform, headers: Readonly<Record<string, string>>) {
  return supertest(platform.url).post("/control/v1/act").set(headers).send(follow);
}

describe("without the control token", () => {
  test("every route returns 401 over loopback and changes nothing", async () => {
    const platform = await runPlatform();
    const routes = routesOf(platform);
    expect(routes.length).toBeGreaterThan(30);
    const before = JSON.stringify(platform.control.state());
    for (const [method, path] of [...routes, ["GET", "/nothing"], ["POST", "/nothing"]] as const) {
      const { status, text } = await rawRequest(platform, [
        `${method} /control/v1${path.replaceAll(/:\w+/g, "p_1")} HTTP/1.1`,
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        "Content-Length: 0",
      ]);
      expect([method, path, status]).toEqual([method, path, 401]);
      expect(text).not.toContain(platform.apiKey);
      expect(text).not.toContain(platform.webhookSecret);
      expect(text).not.toContain(platform.controlToken);
    }
    expect(JSON.stringify(platform.control.state())).toBe(before);
  });

  test.each([
    ["a program on this machine", {}],
    ["a plain nginx here, which passes nothing on but its own Host", { Connection: "close" }],
    ["a proxy that says so", { "X-Forwarded-For": "203.0.113.1" }],
    ["an image or a script of another site", { "Sec-Fetch-Site": "cross-site" }],
    ["the address bar", { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate" }],
    ["the page itself", { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors" }],
  ])("access is denied: %s", async (_, headers) => {
    const platform = await runPlatform();
    for (const { status, body } of [
      await read(platform, headers),
      await write(platform, headers),
    ]) {
      expect(status).toBe(401);
      expect(body.error.code).toBe("UNAUTHORIZED");
      expect(body.error.message).toContain("X-Control-Token");
    }
    expect(platform.control.events()).toEqual([]);
  });

  test("a web page is rejected even with the portal's own origin", async () => {
    const platform = await runPlatform();
    expect((await write(platform, { Origin: platform.url })).status).toBe(401);
    expect(platform.control.events()).toEqual([]);
  });

  test("neither the page nor any other response contains it", async () => {
    const platform = await runPlatform();
    for (const accept of ["text/html", "*/*", "application/json"]) {
      const { text, headers } = await supertest(platform.url).get("/").set("Accept", accept);
      expect(text + JSON.stringify(headers)).not.toContain(platform.controlToken);
    }
    expect(platform.portalUrl).toBe(`${platform.url}/#token=${platform.controlToken}`);
  });
});

describe("with the control token", () => {
  test("programs, the page and a proxy have access", async () => {
    const platform = await runPlatform({ allowHosts: ["platform.test"] });
    const token = withControlToken(platform);
    const own = { Origin: platform.url, "Sec-Fetch-Site": "same-origin", ...token };
    expect((await read(platform, own)).status).toBe(200);
    expect((await write(platform, own)).status).toBe(201);
    const { status, headers } = await read(platform, token);
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    expect((await read(platform, { ...token, "X-Forwarded-For": "203.0.113.1" })).status).toBe(200);
    expect((await read(platform, { ...token, Host: "platform.test" })).status).toBe(200);
  });

  test.each([
    "null",
    "https://rebound.example",
    "http://127.0.0.1:1",
    "http://localhost",
    "file://",
    "",
  ])("the origin %j is rejected", async (origin) => {
    const platform = await runPlatform();
    const headers = { Origin: origin, ...withControlToken(platform) };
    expect((await write(platform, headers)).status).toBe(403);
    const page = await read(platform, headers);
    expect([page.status, page.body.error.code]).toEqual([403, "FORBIDDEN"]);
    // The origin must have the scheme and the spelling of the requested host.
    const secure = platform.url.replace("http:", "https:");
    const renamed = platform.url.replace("127.0.0.1", "localhost");
    for (const Origin of [secure, renamed]) {
      expect((await write(platform, { ...headers, Origin })).status).toBe(403);
    }
    expect(platform.control.events()).toEqual([]);
  });

  test("a token from another run, or with another length, is rejected", async () => {
    const [platform, another] = [await runPlatform(), await runPlatform()];
    const { controlToken } = platform;
    const wrong = ["", "x", controlToken.slice(1), `${controlToken}x`, another.controlToken];
    for (const token of wrong) {
      const { status, body } = await read(platform, { "X-Control-Token": token });
      expect(status).toBe(401);
      expect(body.error.message).toContain("restarted");
    }
  });

  test("the token in the query works only for the stream", async () => {
    const platform = await runPlatform();
    const ask = (path: string, token: string) =>
      supertest(platform.url)
        .get(`/control/v1${path}?after=0&token=${token}`)
        .set("Sec-Fetch-Site", "same-origin")
        .timeout({ response: 5_000 });
    expect((await ask("/state", platform.controlToken)).status).toBe(401);
    expect((await ask("/stream", "wrong")).status).toBe(401);
    expect((await ask("/stream", `${platform.controlToken}&token=x`)).status).toBe(401);
  });
});

test.each([
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain",
  "image/png",
  "application/jsonp",
])(
  "another site's form is rejected as %s even with the token, with and without its headers",
  async (type) => {
    const platform = await runPlatform();
    const origin = "https://rebound.example";
    for (const headers of [{}, { Origin: origin }, { Origin: origin, "Sec-Fetch-Site": "none" }]) {
      for (const path of ["/act", "/reset", "/tokens", "/deliveries", "/deliveries/curl"]) {
        const { status, body } = await supertest(platform.url)
          .post(`/control/v1${path}`)
          .set({ "Content-Type": type, ...headers, ...withControlToken(platform) })
          .send(JSON.stringify(follow));
        const refused = "Origin" in headers ? [403, "FORBIDDEN"] : [415, "UNSUPPORTED_MEDIA_TYPE"];
        expect([status, body.error.code]).toEqual(refused);
      }
    }
    expect(platform.control.events()).toEqual([]);
  },
);

test("an image's bytes pass to the only endpoint that accepts them", async () => {
  const platform = await runPlatform();
  const send = (type: string) =>
    supertest(platform.url)
      .post("/control/v1/images")
      .set({ "Content-Type": type, ...withControlToken(platform) })
      .send("x");
  expect((await send("image/png")).status).not.toBe(415);
  expect((await send("image/png, text/plain")).status).toBe(415);
  expect((await send("text/plain")).status).toBe(415);
});

test("even a request without a body needs the JSON content type", async () => {
  const platform = await runPlatform();
  const secret = platform.webhookSecret;
  const regenerate = (headers: Readonly<Record<string, string>>) =>
    supertest(platform.url)
      .post("/control/v1/webhook/secret")
      .set({ ...headers, ...withControlToken(platform) });
  expect((await regenerate({})).status).toBe(415);
  expect(platform.webhookSecret).toBe(secret);
  expect((await regenerate({ "Content-Type": "application/json" })).status).toBe(201);
});

test("each run has a new token that differs from other secrets, unless one was set", async () => {
  const [one, other] = [await runPlatform(), await runPlatform()];
  expect(one.controlToken).toMatch(/^[\w-]{32}$/);
  expect(one.controlToken).not.toBe(other.controlToken);
  const controlToken = "control_token_of_a_test";
  expect((await runPlatform({ controlToken })).controlToken).toBe(controlToken);
  await expect(startPlatform({ controlToken: "short" })).rejects.toThrow("controlToken: must be");
});
