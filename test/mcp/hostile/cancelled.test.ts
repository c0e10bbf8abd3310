import { describe, expect, test } from "vitest";
import { apiKey, rejection } from "../../client/api.ts";
import { call } from "../call.ts";
import { mcpOverHttp, ways } from "../connect.ts";
import { everyScope } from "../every-tool.ts";
import { heldPlatform } from "./held.ts";
import { calling, cancelled, initialize, post, revision2025, wireTo } from "./raw.ts";

const writing = ["service_create_post", { text: "hi there" }] as const;
const scopes = ["read", "posts:write"] as const;

/** Over HTTP with the 2025 revision, a cancellation arrives in a separate request, so it cannot reach the call. */
const cancelling = ways.filter(([name]) => name !== "HTTP, 2025");

describe.each(cancelling)("over %s", (_, connect) => {
  test("a call that is cancelled ends its request to the platform, a write as well", async () => {
    const platform = await heldPlatform();
    const client = await connect({ url: platform.url, apiKey, scopes: everyScope });
    for (const [name, args] of [["service_get_feed", {}], writing] as const) {
      const giveUp = new AbortController();
      const under = rejection(
        client.callTool({ name, arguments: args }, { signal: giveUp.signal, timeout: 60_000 }),
      );
      const { left, response } = await platform.asked();
      giveUp.abort("changed my mind");
      await under;
      await left;
      // The server disconnected before the platform responded.
      expect(response.writableEnded).toBe(false);
      const { text } = await call(client, "service_get_user", { username: "ada" });
      expect(text).toContain("username: ada");
    }
  });
});

test("a cancelled call is not answered, and what comes after it is", async () => {
  const platform = await heldPlatform();
  const wire = wireTo(platform.url);
  wire.send(initialize, calling(1, "service_get_feed"), calling(2, ...writing));
  expect(await wire.next()).toMatchObject({ id: "init" });
  const held = [await platform.asked(), await platform.asked()];
  wire.send(cancelled(1), cancelled(2), cancelled(99));
  await Promise.all(held.map(({ left }) => left));
  wire.send(calling(3, "service_get_user", { username: "ada" }));
  expect(await wire.next()).toMatchObject({ id: 3, result: { content: [{ type: "text" }] } });
});

describe("a client that disappears leaves no request to the platform behind", () => {
  test("standard input that ends", async () => {
    const platform = await heldPlatform();
    const wire = wireTo(platform.url);
    wire.send(initialize, calling(1, "service_get_feed"), calling(2, ...writing));
    const held = [await platform.asked(), await platform.asked()];
    wire.stdin.end();
    await Promise.all(held.map(({ left }) => left));
    await wire.connection.ended;
  });

  test("a connection over HTTP of 2026", async () => {
    const platform = await heldPlatform();
    const { url } = await mcpOverHttp({ baseUrl: platform.url, scopes });
    const leave = new AbortController();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const name = "service_get_feed";
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: {}, _meta },
    };
    const headers = {
      ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name },
    };
    const under = rejection(post(url, body, headers, leave.signal).then((it) => it.text()));
    const { left } = await platform.asked();
    leave.abort();
    await under;
    await left;
  });

  test("a connection over HTTP of 2025", async () => {
    const platform = await heldPlatform();
    const { url } = await mcpOverHttp({ baseUrl: platform.url, scopes });
    const leave = new AbortController();
    const under = rejection(
      post(url, calling(1, ...writing), revision2025, leave.signal).then((it) => it.text()),
    );
    const { left, response } = await platform.asked();
    expect((await post(url, cancelled(1), revision2025)).status).toBe(202);
    expect(response.closed).toBe(false);
    leave.abort();
    await under;
    await left;
  });

  test("a server that is closed", async () => {
    const platform = await heldPlatform();
    const { url, mcp } = await mcpOverHttp({ baseUrl: platform.url, scopes });
    const under = post(url, calling(1, ...writing), revision2025).then((it) => it.text());
    const { left } = await platform.asked();
    await mcp.close();
    await left;
    await under;
  });
});
