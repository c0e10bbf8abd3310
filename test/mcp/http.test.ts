import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { ManualClock } from "../platform/support/clock.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { clientOf, mcpOverHttp } from "./connect.ts";
import { heldPlatform } from "./hostile/held.ts";

const HOUR_MS = 3_600_000;

const JSON_HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** An MCP server for the local platform, and plain requests to it. */
async function served() {
  const { platform } = await world();
  const clock = new ManualClock();
  const { url, mcp } = await mcpOverHttp({ baseUrl: platform.url, clock });
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { ...JSON_HEADERS, Authorization: `Bearer ${platform.apiKey}`, ...headers },
      body: JSON.stringify(body),
    });
  const begin = async (headers: Record<string, string> = {}) => {
    const response = await post(INITIALIZE, headers);
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };
  const list = (session: string, headers: Record<string, string> = {}) =>
    post(
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
      { "Mcp-Session-Id": session, ...headers },
    );
  return { platform, clock, url, mcp, post, begin, list };
}

describe("whose request it is", () => {
  test("without a token: 401, and what to send", async () => {
    const { url } = await served();
    const response = await fetch(url, { method: "POST", headers: JSON_HEADERS, body: "{}" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.text()).toContain("Authorization: Bearer <API_KEY>");
  });

  test("with a token that the platform does not know: 401, and the platform is asked once", async () => {
    const { platform, post } = await served();
    const asked: string[] = [];
    platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
    const response = await post(INITIALIZE, { Authorization: "Bearer sbk_unknown" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    expect(asked).toHaveLength(1);
  });

  test("that holds with scopes that were given, too: strangers begin no session", async () => {
    const { platform } = await world();
    const { url } = await mcpOverHttp({ baseUrl: platform.url, scopes: ["read"] });
    const begin = (apiKey: string) =>
      fetch(url, {
        method: "POST",
        headers: { ...JSON_HEADERS, Authorization: `Bearer ${apiKey}` },
        body: JSON.stringify(INITIALIZE),
      });
    expect((await begin("sbk_unknown")).status).toBe(401);
    expect((await begin(platform.apiKey)).status).toBe(200);
  });

  test("a token that is known is not asked about again, and strangers do not make it forgotten", async () => {
    const { platform, post } = await served();
    await post(INITIALIZE);
    for (let n = 0; n < 1_001; n++) {
      await post(INITIALIZE, { Authorization: `Bearer sbk_stranger_${n}` });
    }
    const asked: string[] = [];
    platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
    expect((await post(INITIALIZE)).status).toBe(200);
    expect(asked).toEqual([]);
  });

  test("while the platform cannot say: 503, and when to try again", async () => {
    const { url } = await mcpOverHttp({ baseUrl: "http://127.0.0.1:9" });
    const response = await fetch(url, {
      method: "POST",
      headers: { ...JSON_HEADERS, Authorization: "Bearer sbk_any" },
      body: JSON.stringify(INITIALIZE),
    });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("each request's own token reaches the platform", async () => {
    const { platform, url } = await served();
    const other = platform.control.createToken(["read"], "other").apiKey;
    for (const era of ["legacy", "modern"] as const) {
      const clients = await Promise.all([
        clientOf(url, platform.apiKey, era),
        clientOf(url, other, era),
      ]);
      const names = clients.map(async (client) => {
        const { structuredContent } = await client.callTool({ name: "service_get_me" });
        return (structuredContent as { username: string }).username;
      });
      expect(await Promise.all(names)).toEqual(["bot", "other"]);
    }
  });

  test("a body is not read before that is known", async () => {
    const { url } = await served();
    const answer = Promise.withResolvers<number | undefined>();
    const request = httpRequest(url, {
      method: "POST",
      headers: { ...JSON_HEADERS, "Content-Length": 1_000_000 },
    });
    request.on("response", ({ statusCode }) => answer.resolve(statusCode));
    request.on("error", () => undefined);
    // One byte of a million: whoever waits for the rest waits for ever.
    request.write("{");
    expect(await answer.promise).toBe(401);
    request.destroy();
  });
});

describe("where a request comes from", () => {
  test.each([
    ["Host", "evil.example", 403],
    ["Host", "localhost:1234", 200],
    ["Host", "mcp.example", 200],
    ["Origin", "https://evil.example", 403],
    ["Origin", "null", 403],
    ["Origin", "http://localhost:5173", 200],
    ["Origin", "http://mcp.example", 403],
  ])("%s: %s is answered %i", async (name, value, status) => {
    const { platform } = await world();
    const { url } = await mcpOverHttp({ baseUrl: platform.url, allowHosts: ["mcp.example"] });
    const answer = Promise.withResolvers<number | undefined>();
    const request = httpRequest(url, {
      method: "POST",
      headers: { ...JSON_HEADERS, Authorization: `Bearer ${platform.apiKey}`, [name]: value },
    });
    request.on("response", (response) => {
      response.resume();
      answer.resolve(response.statusCode);
    });
    request.end(JSON.stringify(INITIALIZE));
    expect(await answer.promise).toBe(status);
  });

  test("a message of more than 20 MB is answered 413", async () => {
    const { post } = await served();
    const response = await post({ ...INITIALIZE, more: "x".repeat(21 * 1024 * 1024) });
    expect(response.status).toBe(413);
  });
});

describe("a session", () => {
  test("belongs to the token that began it", async () => {
    const { platform, begin, list } = await served();
    const session = await begin();
    const stranger = tokenWith(platform, "read");
    expect((await list(session)).status).toBe(200);
    expect((await list(session, { Authorization: `Bearer ${stranger}` })).status).toBe(404);
    expect((await list("made-up")).status).toBe(404);
  });

  test("ends when its client says so, and when nobody uses it", async () => {
    const { platform, url, clock, begin, list } = await served();
    const [ended, left] = [await begin(), await begin()];
    await fetch(url, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${platform.apiKey}`, "Mcp-Session-Id": ended },
    });
    expect((await list(ended)).status).toBe(404);
    clock.advance(HOUR_MS / 3);
    expect((await list(left)).status).toBe(200);
    clock.advance(HOUR_MS);
    expect((await list(left)).status).toBe(404);
  });

  test("is not held by a client that went away while it was admitted", async () => {
    const { platform, url, clock, begin, list } = await served();
    const session = await begin();
    const headers = {
      Authorization: `Bearer ${platform.apiKey}`,
      Accept: "text/event-stream",
      "Mcp-Session-Id": session,
    };
    for (let n = 0; n < 20; n++) {
      const gone = new AbortController();
      const stream = fetch(url, { headers, signal: gone.signal });
      if (n % 2 === 0) await Promise.resolve();
      gone.abort();
      await expect(stream).rejects.toThrow();
    }
    const stream = await fetch(url, { headers });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    const statusLater = async () => {
      clock.advance(2 * HOUR_MS);
      return (await list(session)).status;
    };
    await expect.poll(statusLater).toBe(404);
  });

  test("stays while its client holds a stream", async () => {
    const { platform, url, clock, begin, list } = await served();
    const session = await begin();
    const stream = await fetch(url, {
      headers: {
        Authorization: `Bearer ${platform.apiKey}`,
        Accept: "text/event-stream",
        "Mcp-Session-Id": session,
      },
    });
    expect(stream.status).toBe(200);
    clock.advance(2 * HOUR_MS);
    expect((await list(session)).status).toBe(200);
    await stream.body?.cancel();
  });

  test("is the fifty-first of a token: the one of it that nobody has used for longest ends", async () => {
    const { platform, clock, begin, list } = await served();
    const other = { Authorization: `Bearer ${tokenWith(platform, "read")}` };
    const foreign = await begin(other);
    const sessions: string[] = [];
    for (let n = 0; n < 50; n++) {
      sessions.push(await begin());
      clock.advance(1);
    }
    await list(sessions[0] ?? "");
    await begin();
    expect((await list(sessions[0] ?? "")).status).toBe(200);
    expect((await list(sessions[1] ?? "")).status).toBe(404);
    expect((await list(foreign, other)).status).toBe(200);
  });
});

test("the stream of a call that was cancelled ends, though it is never answered", async () => {
  const held = await heldPlatform();
  const { url } = await mcpOverHttp({ baseUrl: held.url });
  const post = (message: object, session?: string) =>
    fetch(url, {
      method: "POST",
      headers: {
        ...JSON_HEADERS,
        Authorization: "Bearer sbk_any",
        ...(session === undefined ? {} : { "Mcp-Session-Id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const session = (await post(INITIALIZE)).headers.get("mcp-session-id") ?? "";
  const params = { name: "service_get_feed", arguments: {} };
  const response = await post({ id: 5, method: "tools/call", params }, session);
  await held.asked();
  const cancelled = { method: "notifications/cancelled", params: { requestId: 5 } };
  expect((await post(cancelled, session)).status).toBe(202);
  expect(await response.text()).toContain("The call was cancelled.");
});

describe("a stream that broke off", () => {
  test("goes on behind the last message that arrived", async () => {
    const { platform, url, begin, post } = await served();
    const session = await begin();
    const headers = { "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25" };
    const response = await post(
      { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "service_get_me" } },
      headers,
    );
    // As if only what opens the stream had come, and not the result.
    const [, first = ""] = /^id: (\d+)$/m.exec(await response.text()) ?? [];
    const resumed = await fetch(url, {
      headers: {
        Authorization: `Bearer ${platform.apiKey}`,
        Accept: "text/event-stream",
        "Last-Event-ID": first,
        ...headers,
      },
    });
    expect(await resumed.text()).toContain('"username":"bot"');
  });

  test("is refused where what came after is not known any more", async () => {
    const { platform, url, begin } = await served();
    const resumed = await fetch(url, {
      headers: {
        Authorization: `Bearer ${platform.apiKey}`,
        Accept: "text/event-stream",
        "Last-Event-ID": "4711",
        "Mcp-Session-Id": await begin(),
      },
    });
    expect(resumed.status).toBe(400);
  });
});
