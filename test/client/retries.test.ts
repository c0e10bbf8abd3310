import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { ClientOptions } from "../faces/client.ts";
import { reservePort } from "../support/reserve-port.ts";
import { type Api, json, messagesOf, type Responder, rejection, serve } from "./api.ts";
import { HurriedClock } from "./hurried-clock.ts";

const TIMEOUT_MS = 10_000;
const sent = { id: "m_1", conversationId: "c_1", createdAt: "2026-01-02T03:04:05.678Z" };
const good = json(200, { username: "bot", ...sent, key: "k", items: [] });

interface Scene extends Api {
  readonly clock: HurriedClock;
  readonly write: () => Promise<unknown>;
}

async function scene(
  answers: readonly Responder[],
  options: Partial<ClientOptions> = {},
): Promise<Scene> {
  const clock = new HurriedClock(options.timeoutMs ?? TIMEOUT_MS);
  const left = [...answers];
  const api = await serve((response, request) => (left.shift() ?? good)(response, request), {
    retries: undefined,
    timeoutMs: TIMEOUT_MS,
    clock,
    random: () => 0.5,
    ...options,
  });
  return { ...api, clock, write: () => api.client.dms.send("c_1", { text: "hi" }) };
}

const reset = (_response: ServerResponse, request: IncomingMessage) =>
  void request.socket.destroy();
const cutOff = (response: ServerResponse) => {
  response.writeHead(200, { "content-length": "100" }).write('{"id":');
  response.socket?.destroySoon();
};
const status = (code: number, headers: Record<string, string> = {}) => json(code, {}, headers);
const text =
  (code: number, body: string, headers: Record<string, string> = {}): Responder =>
  (response) =>
    response.writeHead(code, headers).end(body);
const later = { "retry-after": "1" };
const overloaded = json(503, { error: { code: "OVERLOADED" } }, later);
const page = (code: number, headers: Record<string, string> = {}) =>
  text(code, `<html><body>${code}</body></html>`, { "content-type": "text/html", ...headers });

/** Returns a `fetch` function whose first calls go to a closed port. */
async function refusedAtFirst(times: number): Promise<NonNullable<ClientOptions["fetch"]>> {
  const port = String(await reservePort());
  let calls = 0;
  return (url, init) => {
    calls += 1;
    const nobody = Object.assign(new URL(url), { port });
    return fetch(calls > times ? url : nobody, init);
  };
}

describe("a read is tried again", () => {
  test.each<[string, Responder]>([
    ["the connection was reset", reset],
    ["the answer broke off", cutOff],
    ...[408, 425, 429, 500, 502, 503, 504].map((code): [string, Responder] => [
      `the answer was ${code}`,
      status(code),
    ]),
  ])("when %s", async (_name, answer) => {
    const { client, calls } = await scene([answer]);
    expect(await client.me()).toMatchObject({ username: "bot" });
    expect(calls).toHaveLength(2);
  });

  test("when the connection was refused", async () => {
    const { client, calls, clock } = await scene([], { fetch: await refusedAtFirst(1) });
    await client.me();
    expect(calls).toHaveLength(1);
    expect(clock.waits).toHaveLength(1);
  });

  test("but not when the answer was 403, which one probe explains", async () => {
    const { client, calls } = await scene([status(403)]);
    expect(await rejection(client.me())).toMatchObject({ status: 403, retryable: false });
    expect(calls.map(({ url }) => url?.split("?")[0])).toEqual([
      "/api/v1/me",
      "/api/v1/dm/conversations",
    ]);
  });

  test.each([400, 401, 404, 409, 422])("but not when the answer was %i", async (code) => {
    const { client, calls } = await scene([status(code)]);
    expect(await rejection(client.me())).toMatchObject({ status: code, retryable: false });
    expect(calls).toHaveLength(1);
  });

  test("twice, after growing and random waits; then it fails as it did last", async () => {
    const { client, calls, clock } = await scene([status(502), status(503), status(500)]);
    expect(await rejection(client.me())).toMatchObject({ status: 500, retryable: true });
    expect(calls).toHaveLength(3);
    expect(clock.waits).toEqual([150, 450]);
  });

  test("as often as the option allows", async () => {
    const often = await scene([status(500), status(500), status(500)], { retries: 3 });
    await often.client.me();
    expect(often.calls).toHaveLength(4);
    const never = await scene([status(500)], { retries: 0 });
    await rejection(never.client.me());
    expect(never.calls).toHaveLength(1);
  });

  test("for the poller never: it has its own patience", async () => {
    const { client, calls } = await scene([status(500)]);
    await rejection(client.events({}, { purpose: "poll" }));
    expect(calls).toHaveLength(1);
  });
});

describe("a write is tried again", () => {
  test("when the connection was refused", async () => {
    const { write, calls, clock } = await scene([], { fetch: await refusedAtFirst(2) });
    await write();
    expect(calls).toHaveLength(1);
    expect(clock.waits).toHaveLength(2);
  });

  test.each<[string, Responder]>([
    ["429", status(429)],
    ["429 with a gateway's page", page(429)],
    ["503 with a newer code and Retry-After", overloaded],
  ])("when the answer was %s: nothing has happened", async (_name, answer) => {
    const { write, calls } = await scene([answer]);
    await write();
    expect(calls).toHaveLength(2);
    expect(calls[1]?.body).toBe(calls[0]?.body);
  });

  test.each<[string, Responder]>([
    ["the connection was reset after its body", reset],
    ["the answer broke off", cutOff],
    ...[408, 425, 500, 502, 503, 504].map((code): [string, Responder] => [
      `the answer was ${code}`,
      status(code),
    ]),
    ["a gateway answered with 503 and a page", page(503)],
    ["the answer cannot be understood", (response) => response.end("{")],
  ])("but a write that may have happened is not retried: %s", async (_name, answer) => {
    const { write, calls, clock } = await scene([answer]);
    await rejection(write());
    expect(calls).toHaveLength(1);
    expect(clock.waits).toEqual([]);
  });

  test("but not when it was refused first and may have arrived then", async () => {
    const { write, calls } = await scene([overloaded, reset]);
    expect(await rejection(write())).toMatchObject({ code: "API_UNREACHABLE", sent: true });
    expect(calls).toHaveLength(2);
  });
});

describe("an error that waiting cannot fix is not retried", () => {
  test.each([
    [429, "QUOTA_EXCEEDED"],
    [503, "NOT_CONFIGURED"],
  ])("%i %s", async (code, platformCode) => {
    const answer = json(code, { error: { code: platformCode, message: "x" } });
    const { client, calls } = await scene([answer]);
    const upload = client.upload({ url: "https://example.com/a.png" });
    expect(await rejection(upload)).toMatchObject({ code: platformCode, retryable: true });
    expect(calls).toHaveLength(1);
  });
});

describe("Retry-After", () => {
  test.each([429, 503])("with %i is waited for", async (code) => {
    const { client, clock } = await scene([status(code, { "retry-after": "7" })]);
    await client.me();
    expect(clock.waits).toEqual([7_000]);
  });

  test("that is shorter than our own wait does not shorten it", async () => {
    const { client, clock } = await scene([status(503, { "retry-after": "0" })]);
    await client.me();
    expect(clock.waits).toEqual([150]);
  });

  test("beyond the deadline is not waited for: the call fails at once", async () => {
    const { client, calls, clock } = await scene([status(429, { "retry-after": "11" })]);
    expect(await rejection(client.me())).toMatchObject({ status: 429, retryAfterMs: 11_000 });
    expect(calls).toHaveLength(1);
    expect(clock.waits).toEqual([]);
  });
});

test("the deadline is one for all tries", async () => {
  const answers = Array.from({ length: 11 }, () => status(500));
  const { client, clock } = await scene(answers, { retries: 10, timeoutMs: 1_000 });
  expect(await rejection(client.me())).toMatchObject({ status: 500 });
  expect(clock.waits).toEqual([150, 450]);
});

test("an abort during a wait ends the call with its reason, and no further try begins", async () => {
  const { client, clock } = await scene([status(500)]);
  const tries = messagesOf(client, "request");
  const controller = new AbortController();
  const reason = new Error("enough");
  clock.onWait = () => controller.abort(reason);
  expect(await rejection(client.me({ signal: controller.signal }))).toBe(reason);
  expect(tries).toHaveLength(1);
});

describe("each try", () => {
  test("counts for the breaker", async () => {
    const { client, calls } = await scene(Array.from({ length: 9 }, () => status(503)));
    expect(await rejection(client.me())).toMatchObject({ status: 503 });
    expect(await rejection(client.me())).toMatchObject({ code: "API_CIRCUIT_OPEN" });
    expect(calls).toHaveLength(5);
  });

  test("takes a place of the budget", async () => {
    const { client } = await scene([status(500), status(500)], { maxRequestsPerMinute: 5 });
    await client.me();
    expect(client.requests).toMatchObject({ left: 2 });
  });

  test("is published", async () => {
    const { client } = await scene([status(500), reset]);
    const seen = messagesOf(client, "request");
    await client.me();
    expect(seen.map(({ status }) => status)).toEqual([500, undefined, 200]);
  });
});

test("calls share connections, and calls that fail leave theirs to the next ones", async () => {
  const sockets = new Set<unknown>();
  const answers = [good, status(404), good, status(404), good, status(404)];
  const { client, calls } = await scene(
    answers.map((answer) => (response, request) => {
      sockets.add(request.socket);
      answer(response, request);
    }),
  );
  for (const _ of answers) await client.me().catch(() => undefined);
  expect(calls).toHaveLength(answers.length);
  // A call made right after a response may start before the connection is free again.
  expect(sockets.size).toBeLessThanOrEqual(2);
});
