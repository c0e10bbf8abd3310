import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBot } from "./cli.ts";

test("no token is left in mcp --http when the requests are over, though a session goes on", async () => {
  const { platform } = await world();
  const folder = temporaryFolder();
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
  // Not compared as a whole: the difference would be too long to read.
  expect({ session: snapshot.includes(session), token: snapshot.includes(first) }).toEqual({
    session: true,
    token: false,
  });
});

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
