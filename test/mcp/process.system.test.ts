import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkUncaughtError, serviceBot } from "../cli/cli.ts";
import { world } from "../client/platform.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { startWithDownloads } from "../platform/uploads/start.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("no token is left in mcp --http when its requests are over", async () => {
  const { platform } = await world({}, startWithDownloads);
  const folder = temporaryFolder();
  const server = serviceBot(["mcp", "--http", "0"], {
    cwd: folder,
    env: { SERVICE_BASE_URL: platform.url, NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" },
  });
  const line = await server.line((text) => text.includes("/mcp"));
  const [url = ""] = /http:\S+\/mcp/.exec(line) ?? [];
  const [first, last] = [tokenWith(platform, "read"), tokenWith(platform, "read")];
  await callTool(url, first);
  // A connection keeps its last request in memory, so send requests with another token.
  for (let n = 0; n < 8; n++) await callTool(url, last);
  server.kill("SIGUSR2");
  const snapshot = await snapshotIn(folder);
  // Comparing the whole heap would print a huge diff on failure.
  expect({
    platform: snapshot.includes(platform.url),
    token: snapshot.includes(first),
  }).toEqual({ platform: true, token: false });
});

test("an uncaught error of the server is printed without secrets, and ends it with 1", async () => {
  await checkUncaughtError(["mcp", "--http", "0"], "MCP server");
});

async function callTool(url: string, token: string): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "service_get_me", arguments: {} },
    }),
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("username: bot");
}

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
