import { expect, test } from "vitest";
import { startCommand } from "../cli/command.ts";
import { clientOf } from "./connect.ts";

test("the platform prints its MCP server's URL, and an assistant reads its bot's messages there", async () => {
  const platform = startCommand(["platform", "--port", "0", "--json"]);
  const ready = JSON.parse(await platform.line((line) => line.startsWith("{")));
  for (const era of ["legacy", "modern"] as const) {
    const client = await clientOf(ready.mcp, ready.apiKey, era);
    expect((await client.listTools()).tools).toHaveLength(13);
    const me = await client.callTool({ name: "service_get_me", arguments: {} });
    expect(me.structuredContent).toMatchObject({ username: "bot" });
  }
  const stranger = await fetch(ready.mcp, { method: "POST", body: "{}" });
  expect(stranger.status).toBe(401);
  expect((await fetch(`${ready.mcp}/more`)).status).toBe(404);
  expect(await platform.stop()).toBe(0);
});
