import { EventEmitter, on, once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { rejection, serve as serveApi } from "../client/api.ts";
import { world } from "../client/platform.ts";
import { Access, type Admitted, type ListenerOptions, nodeListener } from "../faces/mcp.ts";
import { ManualClock } from "../platform/support/clock.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { clientOf, mcpOverHttp } from "./connect.ts";

const MINUTE_MS = 60_000;

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
  const { url } = await mcpOverHttp({ baseUrl: platform.url, clock });
  const send = (body: string | ReadableStream, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { ...JSON_HEADERS, Authorization: `Bearer ${platform.apiKey}`, ...headers },
      body,
      duplex: "half",
    });
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    send(JSON.stringify(body), headers);
  const asked: string[] = [];
  platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
  return { platform, clock, url, send, post, asked };
}

const MIB = 1024 * 1024;

const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

describe("admission by token", () => {
  test("without a token: 401, and what to send", async () => {
    const { url } = await served();
    const response = await fetch(url, { method: "POST", headers: JSON_HEADERS, body: "{}" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.text()).toContain("Authorization: Bearer <API_KEY>");
  });

  test("with a token that the platform does not know: 401, however often it comes, for one request a minute", async () => {
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

  test("a token that is revoked opens nothing a minute later", async () => {
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

  test("its refusal does not wait for the body", async () => {
    const { url } = await served();
    const answer = Promise.withResolvers<number | undefined>();
    const request = httpRequest(url, {
      method: "POST",
      headers: { ...JSON_HEADERS, "Content-Length": 1_000_000 },
    });
    request.on("response", ({ statusCode }) => answer.resolve(statusCode));
    request.on("error", () => undefined);
    // One byte of a million: a server that waits for the rest never answers.
    request.write("{");
    expect(await answer.promise).toBe(401);
    request.destroy();
  });
});

/** Sends a request of an unknown token, with a body in tiny pieces. Resolves once its connection is closed. */
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

/** A listener whose calls end with their connection or when they are released. */
async function holdCalls(admit: ListenerOptions["admit"]) {
  const released = Promise.withResolvers<Response>();
  let left = Promise.withResolvers<void>();
  const calls = new EventEmitter();
  const arrivals = on(calls, "call");
  const listener = nodeListener({
    admit,
    serve: (call) => {
      calls.emit("call");
      const gone = once(call.request.signal, "abort").then(() => {
        left.resolve();
        left = Promise.withResolvers();
        return new Response("too late");
      });
      return Promise.race([gone, released.promise.then((response) => response.clone())]);
    },
    closing: new AbortController().signal,
    onError: (error) => released.reject(error),
  });
  const server = createServer(listener);
  const { url } = await listenUntilEnd(server);
  const post = (body: string, token = "one", signal: AbortSignal | null = null) =>
    fetch(url, { method: "POST", body, signal, headers: { Authorization: token } });
  /** Resolves once `count` more calls have arrived. */
  const arrived = async (count: number) => {
    for (let n = 0; n < count; n++) await arrivals.next();
  };
  return { server, post, arrived, left: () => left.promise, release: released.resolve };
}

function admitted(token: string): Admitted {
  return { answer: "accepted", fingerprint: token, token, access: new Access() };
}

test("complete messages that wait for their token stay within 64 MiB: the oldest give way, and so do calls under way: 503", async () => {
  const admission = Promise.withResolvers<Admitted>();
  const { server, post, arrived, release } = await holdCalls(() => admission.promise);
  const answers: Promise<Response>[] = [];
  const body = JSON.stringify("x".repeat(7_800_000));
  for (let n = 0; n < 12; n++) {
    const arrival = once(server, "request");
    answers.push(post(body));
    const [request] = await arrival;
    await once(request, "end");
  }
  admission.resolve(admitted("one"));
  await arrived(8);
  const refused = await post(body);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  release(new Response("served"));
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses).toEqual([...Array(4).fill(503), ...Array(8).fill(200)]);
});

test("calls beyond the limit of a token get 503, and one that is given up makes room", async () => {
  const admit = async ({ headers }: IncomingMessage) => admitted(headers.authorization ?? "");
  const { post, arrived, left, release } = await holdCalls(admit);
  const giveUp = new AbortController();
  const first = rejection(post("{}", "one", giveUp.signal));
  const others = Array.from({ length: 255 }, () => post("{}"));
  await arrived(256);
  const refused = await post("{}");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  const another = post("{}", "other");
  await arrived(1);
  const gone = left();
  giveUp.abort();
  await Promise.all([first, gone]);
  const next = post("{}");
  await arrived(1);
  release(new Response("served"));
  const statuses = (await Promise.all([another, next, ...others])).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
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

describe("a client of 2025", () => {
  test("needs no session: each request stands alone", async () => {
    const { post } = await served();
    const begun = await post(INITIALIZE);
    expect(begun.headers.get("mcp-session-id")).toBeNull();
    const list = await post(LIST, { "Mcp-Session-Id": "from-another-time" });
    expect(list.status).toBe(200);
    expect(await list.text()).toContain("service_get_me");
  });

  test.each(["GET", "DELETE", "PUT"])("%s is answered 405", async (method) => {
    const { platform, url } = await served();
    const headers = { Authorization: `Bearer ${platform.apiKey}`, Accept: "text/event-stream" };
    const response = await fetch(url, { method, headers });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
