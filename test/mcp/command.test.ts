import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { runCommand, startCommand } from "../cli/command.ts";
import { world } from "../client/platform.ts";
import { startWithDownloads } from "../platform/uploads/start.ts";
import { clientOf } from "./connect.ts";

test("service-bot mcp --http serves on loopback, prints its URL, and ends on a signal", async () => {
  const { platform } = await world({}, startWithDownloads);
  const server = startCommand(["mcp", "--http", "0", "--allow-host", "MCP.Example"], {
    env: { SERVICE_BASE_URL: platform.url },
  });
  const line = await server.line((text) => text.includes("/mcp"));
  const [, url = "", port] = /(http:\/\/127\.0\.0\.1:(\d+)\/mcp) and /.exec(line) ?? [];
  for (const era of ["legacy", "modern"] as const) {
    const client = await clientOf(url, platform.apiKey, era);
    const me = await client.callTool({ name: "service_get_me" });
    expect(me.structuredContent).toMatchObject({ username: "bot" });
  }
  // This host name is allowed, so the 401 is due to the missing token.
  expect(await statusFor(url, `mcp.example:${port}`)).toBe(401);
  expect(await statusFor(url, "evil.example")).toBe(403);
  expect(await server.stop()).toBe(0);
});

test("it answers at an address of this machine that it listens on", async () => {
  const { platform } = await world({}, startWithDownloads);
  const server = startCommand(["mcp", "--http", "0", "--host", "0.0.0.0"], {
    env: { SERVICE_BASE_URL: platform.url },
  });
  const line = await server.line((text) => text.includes("/mcp"));
  const [, port] = /:(\d+)\/mcp/.exec(line) ?? [];
  expect(await statusFor(`http://127.0.0.1:${port}/mcp`, `127.0.0.1:${port}`)).toBe(401);
});

test("an address of another machine is refused with exit code 2", async () => {
  const { code, err } = await runCommand(["mcp", "--http", "0", "--host", "203.0.113.1"], {
    env: { SERVICE_BASE_URL: "http://127.0.0.1:9" },
  });
  expect(code).toBe(2);
  expect(err).toContain("--host, --http: cannot listen on 203.0.113.1");
});

async function statusFor(url: string, host: string): Promise<number | undefined> {
  const status = Promise.withResolvers<number | undefined>();
  const request = httpRequest(url, { method: "POST", headers: { host } }, (response) => {
    response.resume();
    status.resolve(response.statusCode);
  });
  request.end("{}");
  return await status.promise;
}
