import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { world } from "../client/platform.ts";
import { clientOf } from "../mcp/connect.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { serviceBot, serviceBotEnds } from "./cli.ts";

test("service-bot mcp --http serves on loopback, says where, and ends at a signal", async () => {
  const { platform } = await world();
  const server = serviceBot(["mcp", "--http", "0", "--allow-host", "MCP.Example"], {
    env: { SERVICE_BASE_URL: platform.url },
  });
  const line = await server.line((text) => text.startsWith("MCP server"));
  const [, url = "", port] = /(http:\/\/127\.0\.0\.1:(\d+)\/mcp) for /.exec(line) ?? [];
  for (const era of ["legacy", "modern"] as const) {
    const client = await clientOf(url, platform.apiKey, era);
    const me = await client.callTool({ name: "service_get_me" });
    expect(me.structuredContent).toMatchObject({ username: "bot" });
  }
  // Admitted by its name: what is missing is the token.
  expect(await statusFor(url, `mcp.example:${port}`)).toBe(401);
  expect(await statusFor(url, "evil.example")).toBe(403);
  server.kill("SIGTERM");
  expect(await server.exited).toMatchObject({ code: 0 });
});

test("it answers at an address of this machine that it listens on", async () => {
  const { platform } = await world();
  const server = serviceBot(["mcp", "--http", "0", "--host", "0.0.0.0"], {
    env: { SERVICE_BASE_URL: platform.url },
  });
  const line = await server.line((text) => text.startsWith("MCP server"));
  const [, port] = /:(\d+)\/mcp/.exec(line) ?? [];
  expect(await statusFor(`http://127.0.0.1:${port}/mcp`, `127.0.0.1:${port}`)).toBe(401);
});

test("no token is left in it when the requests are over, though a session goes on", async () => {
  const { platform } = await world();
  const folder = await mkdtemp(join(tmpdir(), "mcp-heap-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const server = serviceBot(["mcp", "--http", "0"], {
    cwd: folder,
    env: { SERVICE_BASE_URL: platform.url, NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" },
  });
  const line = await server.line((text) => text.startsWith("MCP server"));
  const [url = ""] = /http:\S+\/mcp/.exec(line) ?? [];
  const [first, last] = [tokenWith(platform, "read"), tokenWith(platform, "read")];
  const session = await used(url, first);
  // Connections remember their last request: let it be one with another token.
  for (let n = 0; n < 8; n++) await used(url, last);
  server.kill("SIGUSR2");
  const snapshot = await snapshotIn(folder);
  // Not compared as a whole: nobody could read the difference.
  expect({ session: snapshot.includes(session), token: snapshot.includes(first) }).toEqual({
    session: true,
    token: false,
  });
});

test.each([
  [["--allow-host", "https://mcp.example"], "--allow-host takes a name"],
  [["--host", "203.0.113.1"], "--host, --http: cannot listen on 203.0.113.1"],
])("%j is refused with exit code 2", async (args, words) => {
  const { code, err } = await serviceBotEnds(["mcp", "--http", "0", ...args], {
    env: { SERVICE_BASE_URL: "http://127.0.0.1:9" },
  });
  expect(code).toBe(2);
  expect(err).toContain(words);
});

/** How a request without a token is answered under this name. */
async function statusFor(url: string, host: string): Promise<number | undefined> {
  const status = Promise.withResolvers<number | undefined>();
  const request = httpRequest(url, { method: "POST", headers: { host } }, (response) => {
    response.resume();
    status.resolve(response.statusCode);
  });
  request.end("{}");
  return await status.promise;
}

/** A session in which a tool was called, and which goes on; gives its id. */
async function used(url: string, token: string): Promise<string> {
  const post = async (message: object, more: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: "application/json, text/event-stream",
        "Content-Type": "application/json",
        ...more,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    expect(response.status).toBe(200);
    await response.text();
    return response;
  };
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const begun = await post({ id: 1, method: "initialize", params });
  const session = begun.headers.get("mcp-session-id") ?? "";
  const call = { id: 2, method: "tools/call", params: { name: "service_get_me", arguments: {} } };
  await post(call, { "Mcp-Session-Id": session });
  return session;
}

/** The heap snapshot that is written there, once it is whole. */
async function snapshotIn(folder: string): Promise<string> {
  let text = "";
  await expect
    .poll(
      async () => {
        const file = (await readdir(folder)).find((name) => name.endsWith(".heapsnapshot"));
        text = file === undefined ? "" : await readFile(join(folder, file), "utf8");
        return text.trimEnd().endsWith("]}");
      },
      { timeout: 15_000 },
    )
    .toBe(true);
  return text;
}
