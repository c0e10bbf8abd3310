import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { serve as serveApi } from "../client/api.ts";
import { world } from "../client/platform.ts";
import { DOCTOR_AGENT } from "../faces/core.ts";
import { ManualClock } from "../platform/support/clock.ts";
import { describeTargets } from "../support/request-targets.ts";
import { clientOf, mcpOverHttp, mcpWith } from "./connect.ts";
import type { HttpOptions, McpHttp } from "./face.ts";

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

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

const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };
const CALL = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "service_get_me" } };

function poster(mcp: McpHttp, apiKey: string) {
  const send = (
    body: string | ReadableStream,
    headers: Record<string, string> = {},
    signal: AbortSignal | null = null,
  ) =>
    mcp.fetch(
      new Request("http://localhost/mcp", {
        ...{ method: "POST", body, signal, duplex: "half" },
        headers: { ...JSON_HEADERS, Authorization: `Bearer ${apiKey}`, ...headers },
      }),
    );
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    send(JSON.stringify(body), headers);
  return { send, post };
}

async function served(options: Partial<HttpOptions> = {}) {
  const { platform } = await world();
  const clock = new ManualClock();
  const mcp = mcpWith({ baseUrl: platform.url, fetch: platform.fetch, clock, ...options });
  const asked: string[] = [];
  platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
  return { platform, clock, mcp, asked, ...poster(mcp, platform.apiKey) };
}

describeTargets("MCP", async () => {
  const { url } = await mcpOverHttp({ baseUrl: "http://platform.test" });
  return { url: new URL(url).origin, path: "/mcp", method: "POST", status: 401 };
});

describe("admission by token", () => {
  test("without a token: 401, and what to send", async () => {
    const { post } = await served();
    const response = await post(INITIALIZE, { Authorization: "" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.text()).toContain("Authorization: Bearer <API_KEY>");
  });

  test("an unknown token gets 401 each time, for one request to the platform a minute", async () => {
    const { clock, post, asked } = await served();
    const headers = { Authorization: "Bearer sbk_unknown" };
    for (let round = 0; round < 3; round++) {
      const responses = Array.from({ length: 20 }, () => post(INITIALIZE, headers));
      for (const response of await Promise.all(responses)) {
        expect(response.status).toBe(401);
        expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
      }
    }
    expect(asked).toHaveLength(1);
    clock.advance(MINUTE_MS);
    expect((await post(INITIALIZE, headers)).status).toBe(401);
    expect(asked).toHaveLength(2);
  });

  test("with scopes that were given a token is looked up as well", async () => {
    const { mcp, platform } = await served({ scopes: ["read"] });
    expect((await poster(mcp, "sbk_unknown").post(INITIALIZE)).status).toBe(401);
    expect((await poster(mcp, platform.apiKey).post(INITIALIZE)).status).toBe(200);
  });

  test("a revoked token is rejected a minute later", async () => {
    const { platform, clock, post, asked } = await served();
    const { apiKey } = platform.control.createToken(["read"]);
    const { apps } = platform.control;
    const headers = { Authorization: `Bearer ${apiKey}` };
    expect((await post(INITIALIZE, headers)).status).toBe(200);
    expect(await (await post(LIST, headers)).text()).toContain("service_get_me");
    const issued = apps.tokens().find(({ lastFour }) => apiKey.endsWith(lastFour));
    apps.revokeToken(issued?.id ?? "");
    clock.advance(MINUTE_MS);
    asked.length = 0;
    for (const message of [INITIALIZE, LIST, INITIALIZE]) {
      expect((await post(message, headers)).status).toBe(401);
    }
    expect(asked).toHaveLength(1);
  });

  test("while the platform cannot say: 503, and when to try again", async () => {
    const { post } = await served({ fetch: () => Promise.reject(new TypeError("fetch failed")) });
    const response = await post(INITIALIZE);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  });

  test("each request's own token reaches the platform", async () => {
    const { platform, mcp } = await served();
    const send = (to: string | URL, init?: RequestInit) => mcp.fetch(new Request(to, init));
    const url = "http://localhost/mcp";
    const other = platform.control.createToken(["read"], "other").apiKey;
    for (const era of ["legacy", "modern"] as const) {
      const clients = await Promise.all([
        clientOf(url, platform.apiKey, era, send),
        clientOf(url, other, era, send),
      ]);
      const names = clients.map(async (client) => {
        const { structuredContent } = await client.callTool({ name: "service_get_me" });
        return (structuredContent as { username: string }).username;
      });
      expect(await Promise.all(names)).toEqual(["bot", "other"]);
    }
  });

  test("its refusal does not wait for the body", async () => {
    const { send } = await served();
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(1)),
    });
    const answers = [
      await send(endless, { Authorization: "" }),
      await send(
        new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }),
        { Authorization: "Bearer sbk_unknown" },
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });
});

/**
 * Sends a request with an unknown token and a body in tiny chunks. Resolves once the server has closed the connection.
 */
async function sendTinyPieces(url: string, method: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const head = [
    ...[`${method} /mcp HTTP/1.1`, "Host: localhost", "Authorization: Bearer sbk_unknown"],
    ...["Content-Type: application/json", "Transfer-Encoding: chunked"],
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${"1\r\nx\r\n".repeat(100_000)}`);
  await closed;
}

test("a body in tiny pieces takes no memory while its token is looked up: its connection is closed", async () => {
  const { url: baseUrl } = await serveApi(() => undefined);
  const { url } = await mcpOverHttp({ baseUrl });
  await sendTinyPieces(url, "POST");
});

test.each(["PUT", "GET", "DELETE"])(
  "a body in tiny pieces of %s takes no memory: its connection is closed without a look-up",
  async (method) => {
    const { url: baseUrl, calls } = await serveApi(() => undefined);
    const { url } = await mcpOverHttp({ baseUrl });
    await sendTinyPieces(url, method);
    expect(calls).toEqual([]);
  },
);

function held(which: "lookups" | "calls") {
  const released = Promise.withResolvers<void>();
  let arrivals = 0;
  let arrived = Promise.withResolvers<void>();
  const fetch: HttpOptions["fetch"] = async (_url, { headers, signal }) => {
    const isLookup = new Headers(headers).get("user-agent") === DOCTOR_AGENT;
    if (isLookup === (which === "lookups")) {
      arrivals += 1;
      arrived.resolve();
      arrived = Promise.withResolvers();
      const gone = signal == null ? new Promise(() => undefined) : once(signal, "abort");
      await Promise.race([released.promise, gone.then(() => Promise.reject(signal?.reason))]);
    }
    return Response.json({ username: "bot" });
  };
  const mcp = mcpWith({ baseUrl: "http://platform.test", fetch, scopes: ["read"] });
  const waitFor = async (count: number) => {
    while (arrivals < count) await arrived.promise;
  };
  return { mcp, waitFor, release: released.resolve, ...poster(mcp, "one") };
}

test("complete messages that wait for their token stay within 64 MiB: the oldest give way, 503", async () => {
  const { send, release } = held("lookups");
  const padded = { ...LIST, params: { _meta: { more: "x".repeat(7_800_000) } } };
  const body = JSON.stringify(padded);
  const answers: Promise<Response>[] = [];
  for (let n = 0; n < 12; n++) {
    const end = Promise.withResolvers<void>();
    const flush = () => end.resolve();
    const pieces = new Blob([body]).stream().pipeThrough(new TransformStream({ flush }));
    answers.push(send(pieces));
    await end.promise;
  }
  release();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses).toEqual([...Array(4).fill(503), ...Array(8).fill(200)]);
});

test("messages of calls under way stay within 64 MiB: a further one gets 503", async () => {
  const { post, waitFor, release } = held("calls");
  await (await post(LIST)).text();
  const large = { ...CALL, params: { ...CALL.params, _meta: { more: "x".repeat(7_800_000) } } };
  const calls = Array.from({ length: 8 }, () => post(large));
  await waitFor(8);
  expect((await post(large)).status).toBe(503);
  const small = post(CALL);
  await waitFor(9);
  release();
  for (const call of [...calls, small]) expect((await call).status).toBe(200);
});

test("calls beyond the limit get 503, and an abandoned call makes room", async () => {
  const { send, post, waitFor, release } = held("calls");
  // From now on, the server knows the token.
  await (await post(LIST)).text();
  const leave = new AbortController();
  const first = send(JSON.stringify(CALL), {}, leave.signal);
  const others = Array.from({ length: 255 }, () => post(CALL));
  await waitFor(256);
  const refused = await post(CALL);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  leave.abort();
  await (await first).text().catch(() => undefined);
  const next = post(CALL);
  await waitFor(257);
  release();
  const texts = await Promise.all([next, ...others].map(async (answer) => (await answer).text()));
  for (const text of texts) expect(text).toContain("username: bot");
});

test("at most 32 unknown tokens wait, and a known token overtakes them", async () => {
  let isHeld = false;
  const waiting: (() => void)[] = [];
  const fetch = async () => {
    if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    return Response.json({ items: [], nextCursor: null });
  };
  const mcp = mcpWith({ baseUrl: "http://platform.test", fetch, scopes: ["read"] });
  const { post } = poster(mcp, "familiar");
  await (await post(LIST)).text();
  isHeld = true;
  const strangers = Array.from({ length: 33 }, (_, n) => poster(mcp, `stranger${n}`).post(LIST));
  const refused = await Promise.race(strangers);
  expect(refused.status).toBe(503);
  expect(await (await post(LIST)).text()).toContain("service_get_me");
  for (const resolve of waiting) resolve();
  const statuses = (await Promise.all(strangers)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([...Array(32).fill(200), 503]);
});

describe("admission by host and origin", () => {
  test.each([
    ["Host", "evil.example", 403],
    ["Host", "localhost:1234", 200],
    ["Host", "mcp.example", 200],
    ["Origin", "https://evil.example", 403],
    ["Origin", "null", 403],
    ["Origin", "http://localhost:5173", 200],
    ["Origin", "http://mcp.example", 403],
  ])("Host and Origin decide the status: %s: %s gets %i", async (name, value, status) => {
    const { platform } = await world();
    const { url } = await mcpOverHttp({
      ...{ baseUrl: platform.url, fetch: platform.fetch },
      allowHosts: ["mcp.example"],
    });
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
});

test("a message of more than 8 MiB is answered 413, whether it says so or not, and an image of 5 MB fits", async () => {
  const { post, send } = await served();
  const padded = (bytes: number) => ({ ...LIST, params: { _meta: { more: "x".repeat(bytes) } } });
  expect((await post(padded(8 * MIB))).status).toBe(413);
  const inPieces = new Blob([JSON.stringify(padded(8 * MIB))]).stream();
  expect((await send(inPieces)).status).toBe(413);
  const inLines = Math.ceil((5 * MIB * 4) / 3) * (1 + 4 / 76);
  expect((await post(padded(inLines))).status).toBe(200);
});

test("a message of a million small values is answered 413", async () => {
  const { send } = await served();
  const list = JSON.stringify({ ...LIST, params: { _meta: { more: Array(500_000).fill([]) } } });
  expect((await send(list)).status).toBe(413);
});

test("a text cut inside a UTF-8 character does not make a message unreadable", async () => {
  const { mcp, platform } = await served();
  const { params } = INITIALIZE;
  const text = JSON.stringify({
    ...INITIALIZE,
    params: { ...params, clientInfo: { name: "caf#", version: "1" } },
  });
  const body = Buffer.from(text.replace("#", "\xc3"), "latin1");
  const headers = { ...JSON_HEADERS, Authorization: `Bearer ${platform.apiKey}` };
  const request = new Request("http://localhost/mcp", { method: "POST", headers, body });
  expect((await mcp.fetch(request)).status).toBe(200);
});

describe("a client of 2025", () => {
  test("needs no session, because requests are independent", async () => {
    const { post } = await served();
    const begun = await post(INITIALIZE);
    expect(begun.headers.get("mcp-session-id")).toBeNull();
    const list = await post(LIST, { "Mcp-Session-Id": "from-another-time" });
    expect(list.status).toBe(200);
    expect(await list.text()).toContain("service_get_me");
  });

  test.each(["GET", "DELETE", "PUT"])("%s is answered 405", async (method) => {
    const { platform, mcp } = await served();
    const headers = { Authorization: `Bearer ${platform.apiKey}`, Accept: "text/event-stream" };
    const response = await mcp.fetch(new Request("http://localhost/mcp", { method, headers }));
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
