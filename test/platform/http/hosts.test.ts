import { networkInterfaces } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { type Platform, startPlatform } from "../../faces/platform.ts";
import { rawRequest } from "../../support/raw-request.ts";
import { runPlatform } from "../support/platform.ts";

const STATE = "/control/v1/state";

/** Sends a request with the control token. Only the Host header matters here. */
function ask(platform: Platform, ...head: string[]): Promise<{ status: number; text: string }> {
  return rawRequest(platform, [...head, `X-Control-Token: ${platform.controlToken}`]);
}

function get(path = STATE): string {
  return `GET ${path} HTTP/1.1`;
}

test.each([
  "rebound.example",
  "rebound.example:4400",
  "REBOUND.EXAMPLE",
  "localhost.",
  "localhost.:4400",
  "127.0.0.1.",
  "127.1",
  "0x7f.0.0.1",
  "2130706433",
  "127.0.0.2",
  "0.0.0.0",
  "[::]",
  "[2001:db8::1]:4400",
  "[::1%25lo]",
  "::1",
  "localhost:4400@rebound.example",
  "user@localhost",
  "localhost:",
  "localhost:999999",
  "localhost rebound.example",
  "localhost, rebound.example",
  "a.localhost",
  "127.0.0.1.rebound.example",
  "192.168.0.1",
  "",
])("the host %j is rejected, even at the right address", async (host) => {
  const platform = await runPlatform();
  for (const path of [STATE, "/", "/api/v1/me", "/portal/app.js"]) {
    const { status, text } = await ask(platform, get(path), `Host: ${host}`);
    expect([400, 403]).toContain(status);
    expect(text).not.toContain("lastEventId");
  }
});

test.each(["localhost", "LocalHost:4400", "127.0.0.1:1", "[::1]", "[0:0:0:0:0:0:0:1]:4400"])(
  "the host %s is accepted",
  async (host) => {
    const platform = await runPlatform();
    expect((await ask(platform, get(), `Host: ${host}`)).status).toBe(200);
  },
);

test("two Host headers are rejected in either order", async () => {
  const platform = await runPlatform();
  const hosts = ["Host: localhost", "Host: rebound.example"];
  expect((await ask(platform, get(), ...hosts)).status).toBeGreaterThanOrEqual(400);
  expect((await ask(platform, get(), ...hosts.reverse())).status).toBeGreaterThanOrEqual(400);
});

test("a request without a Host is rejected, even with HTTP/1.0", async () => {
  const platform = await runPlatform();
  expect((await ask(platform, get())).status).toBe(400);
  expect((await ask(platform, `GET ${STATE} HTTP/1.0`)).status).toBe(403);
});

test("the host of an absolute request target counts", async () => {
  const platform = await runPlatform();
  const { host } = new URL(platform.url);
  const evil = get(`http://rebound.example${STATE}`);
  expect((await ask(platform, evil, `Host: ${host}`)).status).toBe(403);
  const own = get(`http://${host}${STATE}`);
  expect((await ask(platform, own, `Host: ${host}`)).status).toBe(200);
  expect((await ask(platform, own, "Host: rebound.example")).status).toBe(403);
});

test.each(["//evil", "//evil/control/v1/state", "/\\evil", "///"])(
  "the path %s leads to no other host",
  async (path) => {
    const platform = await runPlatform();
    const { status, text } = await ask(platform, get(path), "Host: localhost");
    expect(status).toBe(404);
    expect(text).not.toMatch(/^location:/im);
  },
);

test("an allowed name is accepted, in any case and with any port; others are rejected", async () => {
  const platform = await runPlatform({ allowHosts: ["Platform.test", "2001:DB8::1"] });
  for (const host of ["platform.test", "PLATFORM.TEST:80", "[2001:db8:0::1]:4400"]) {
    expect((await ask(platform, get(), `Host: ${host}`)).status).toBe(200);
  }
  const other = await ask(platform, get(), "Host: other.test");
  expect(other.status).toBe(403);
  expect(other.text).toContain("--allow-host");
  expect(other.text).toContain("FORBIDDEN");
});

test.each(["http://platform.test", "platform.test:80", "*.test", "", "a b", "[::1]"])(
  "%j is not a valid name to allow",
  async (name) => {
    const starting = startPlatform({ allowHosts: [name] });
    await expect(starting).rejects.toThrow("allowHosts: must be host names without a scheme");
  },
);

const outside = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.skipIf(outside === undefined)(
  "a platform on a network address accepts that address",
  async () => {
    const platform = await startPlatform({ host: outside });
    onTestFinished(() => platform.stop());
    expect(platform.url).toContain(`http://${outside}:`);
    expect(platform.portalUrl).toBe(`${platform.url}/#token=${platform.controlToken}`);
    expect((await ask(platform, get(), `Host: ${outside}`)).status).toBe(200);
    expect((await ask(platform, get(), "Host: 10.255.255.254")).status).toBe(403);
    for (const host of [outside, "127.0.0.1", "localhost"]) {
      expect((await rawRequest(platform, [get(), `Host: ${host}`])).status).toBe(401);
      const page = await ask(platform, get("/"), `Host: ${host}`, "Accept: text/html");
      expect(page.text).not.toContain(platform.controlToken);
    }
  },
);
