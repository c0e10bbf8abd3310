import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { ApiError, Client, NetworkError } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";
import { reservePort } from "../support/reserve-port.ts";
import { unreadable } from "../support/unreadable.ts";
import {
  apiKey,
  clientOver,
  failingClient,
  json,
  type Responder,
  rejection,
  serve,
} from "./api.ts";

async function apiError(respond: Responder): Promise<ApiError> {
  const { client } = await serve(respond);
  const error = await rejection(client.me());
  if (error instanceof ApiError) return error;
  throw error;
}

describe("an answer that is not 2xx is an ApiError", () => {
  test.each<[string, number, unknown, string | undefined]>([
    ["{error: {code, message}}", 403, { error: { code: "BLOCKED", message: "no" } }, "BLOCKED"],
    ["{error: CODE, message}", 404, { error: "NOT_FOUND", message: "no" }, "NOT_FOUND"],
    ["{code, message}", 400, { code: "TOO_LONG", message: "no" }, "TOO_LONG"],
    ["{code} alone", 400, { code: "EMPTY" }, "EMPTY"],
    ["{error: {message}}", 500, { error: { message: "no" } }, undefined],
    ["{error: null}", 500, { error: null }, undefined],
    ["a code that is a number", 500, { error: { code: 17 } }, undefined],
    ["an empty code", 500, { code: "" }, undefined],
    ["an empty object", 500, {}, undefined],
    ["a list", 500, [1, 2], undefined],
    ["a text", 500, "out of order", undefined],
    ["null", 500, null, undefined],
    ["a number", 500, 5, undefined],
  ])("with the body %s", async (_name, status, body, platformCode) => {
    const error = await apiError(json(status, body));
    expect(error).toMatchObject({ code: platformCode ?? "API_ERROR", status, platformCode });
  });

  test.each<[body: string, code: string | undefined, message: RegExp]>([
    ["TOO_LONG", "TOO_LONG", /400 \(TOO_LONG\)/],
    ['"TOO_LONG"', "TOO_LONG", /400 \(TOO_LONG\)/],
    ["TOO_LONG: 500 at most", "TOO_LONG", /500 at most/],
    ["Text too long.", undefined, /400 \(Text too long\)\./],
    ["SO_NEW", undefined, /SO_NEW/],
    ['{"errors":[{"code":"EMPTY","message":"say something"}]}', "EMPTY", /say something/],
  ])("with the text %s", async (body, platformCode, message) => {
    const error = await apiError((response) => response.writeHead(400).end(body));
    expect(error).toMatchObject({ code: platformCode ?? "API_ERROR", platformCode });
    expect(error.message).toMatch(message);
  });

  test.each([
    ["HTML", "<html><body>Bad Gateway</body></html>"],
    ["nothing", ""],
    ["broken JSON", '{"error":'],
  ])("with %s as its body", async (_name, body) => {
    const error = await apiError((response) => response.writeHead(502).end(body));
    expect(error).toMatchObject({ status: 502, platformCode: undefined });
  });

  test("with a body that breaks off", async () => {
    const error = await apiError((response) => {
      response.writeHead(500, { "content-length": "100" }).write('{"code":');
      response.socket?.destroySoon();
    });
    expect(error).toMatchObject({ status: 500, platformCode: undefined });
  });

  test("keeps its code also when the body is long", async () => {
    const details = Array.from(
      { length: 200 },
      (_, index) => `field ${index} is not as it should be`,
    );
    const error = await apiError(
      json(400, { error: { code: "VALIDATION", message: "no", details } }),
    );
    expect(error.platformCode).toBe("VALIDATION");
  });

  test("has a message of limited length for any text of the platform", async () => {
    const error = await apiError(json(400, { code: "VALIDATION", message: "x".repeat(1_000_000) }));
    expect(error.platformCode).toBe("VALIDATION");
    expect(error.message.length).toBeLessThan(5_000);
  });

  test("names the request and the response, and never the token", async () => {
    const error = await apiError(
      json(403, { code: "AGENT_SCOPE_MISSING", message: "dm is missing" }),
    );
    expect(error.message).toMatch(/GET \/me.*403.*AGENT_SCOPE_MISSING.*dm is missing/);
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toContain(apiKey);
  });

  test("does not repeat the token or the message, even if the platform does", async () => {
    const { client, calls } = await serve((response, request) => {
      const message = `you said ${calls.at(-1)?.body} as ${request.headers.authorization}`;
      response.writeHead(400).end(JSON.stringify({ code: "VALIDATION", message }));
    });
    const error = await rejection(client.dms.send("c_1", { text: "see you at the pier" }));
    expect(error).toMatchObject({ platformCode: "VALIDATION" });
    expect((error as Error).message).toContain("you said");
    expect((error as Error).message).not.toContain("pier");
    expect((error as Error).message).not.toContain(apiKey);
  });

  test("names the remedy if there is one", async () => {
    expect((await apiError(json(401, {}))).message).toContain("SERVICE_API_KEY");
    expect((await apiError(json(403, {}))).message).toMatch(/scope/);
    expect((await apiError(json(500, {}))).message).not.toMatch(/SERVICE_API_KEY|scope/);
    const blocked = { code: "BLOCKED", message: "One has blocked the other." };
    expect((await apiError(json(403, blocked))).message).not.toMatch(/scope/);
    expect((await apiError(json(429, { code: "QUOTA_EXCEEDED" }))).message).toMatch(/next day/);
  });
});

describe("Retry-After", () => {
  async function retryAfter(value: string | undefined, date?: string): Promise<number | undefined> {
    const headers = {
      ...(value === undefined ? {} : { "retry-after": value }),
      ...(date === undefined ? {} : { date }),
    };
    return (await apiError(json(429, {}, headers))).retryAfterMs;
  }

  test("in seconds", async () => {
    expect(await retryAfter("7")).toBe(7_000);
    expect(await retryAfter("0")).toBe(0);
  });

  test("is believed up to an hour", async () => {
    expect(await retryAfter("3600")).toBe(3_600_000);
    expect(await retryAfter("99999999999")).toBe(3_600_000);
    const now = "Thu, 01 Jan 2026 00:00:00 GMT";
    expect(await retryAfter("Fri, 01 Jan 2027 00:00:00 GMT", now)).toBe(3_600_000);
  });

  test("as a date is counted from the platform's own clock", async () => {
    // Both dates are far from the local clock, because only the difference between the two may matter.
    const now = "Thu, 01 Jan 2026 00:00:00 GMT";
    expect(await retryAfter("Thu, 01 Jan 2026 00:02:00 GMT", now)).toBe(120_000);
  });

  test("as a date that has passed is no wait", async () => {
    const now = "Thu, 01 Jan 2026 00:02:00 GMT";
    expect(await retryAfter("Thu, 01 Jan 2026 00:00:00 GMT", now)).toBe(0);
  });

  test("as a date without a Date header is counted from the client's clock", async () => {
    const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
    const headers = { "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" };
    const client = clientOver(async () => new Response("{}", { status: 503, headers }), { clock });
    expect(await rejection(client.me())).toMatchObject({ retryAfterMs: 60_000 });
  });

  test.each([undefined, "soon", "", "-5", "1.5"])("%s is ignored", async (value) => {
    expect(await retryAfter(value)).toBeUndefined();
  });
});

describe("whether a response means that nothing happened", () => {
  const coded = { error: { code: "OVERLOADED", message: "later" } };
  const later = { "retry-after": "1" };
  const atOnce = { "retry-after": "0" };
  const plain = (response: ServerResponse, text: string) =>
    response.writeHead(503, later).end(text);
  test.each<[string, boolean, Responder]>([
    ["400", true, json(400, coded)],
    ["a gateway's 403", true, (response) => response.writeHead(403).end("<html></html>")],
    ["a gateway's 429", true, (response) => response.writeHead(429).end("<html></html>")],
    ["503 NOT_CONFIGURED", true, json(503, { code: "NOT_CONFIGURED" })],
    ["503 NOT_CONFIGURED as text", false, (response) => plain(response, "NOT_CONFIGURED")],
    ["503 with a newer code and Retry-After", true, json(503, coded, later)],
    ["503 with a newer code, to be sent again at once", true, json(503, coded, atOnce)],
    ["503 with a newer code", false, json(503, coded)],
    ["503 with a word in capitals", false, json(503, { error: "UNAVAILABLE" })],
    ["503 with a word and Retry-After", false, json(503, { error: "unavailable" }, later)],
    ["503 with a code as text", false, (response) => plain(response, "SERVICE_UNAVAILABLE")],
    ["503 without a code, with Retry-After", false, json(503, { error: "Later, please" }, later)],
    ["503 without a code", false, json(503, { error: "Later, please" })],
    ["503 of an empty object with Retry-After", false, json(503, {}, later)],
    ["a gateway's 503", false, (response) => response.writeHead(503, later).end("<html></html>")],
    ["408", false, json(408, coded)],
    ["500 with a code", false, json(500, coded)],
    ["502 with a code", false, json(502, coded)],
    ["504 with a code", false, json(504, coded)],
    ["a success that is a refusal", true, json(200, { error: { code: "BLOCKED" } })],
    ["a success that is a failure", false, json(200, coded)],
  ])("%s: %s", async (_name, expected, respond) => {
    expect((await apiError(respond)).saysNothingHappened).toBe(expected);
  });

  test("what is refused before it is sent has not happened", () => {
    const error = new ApiError("empty", { status: 503, local: true });
    expect(error.saysNothingHappened).toBe(true);
  });
});

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "a redirect is not followed, and its target gets no request and no token (%i)",
    async (status) => {
      const target = await serve(json(200, { username: "thief" }));
      const headers = { location: `${target.url}/api/v1/me` };
      const error = await apiError(json(status, {}, headers));
      expect(error).toMatchObject({ code: "API_REDIRECT", status });
      expect(error.message).toContain("SERVICE_BASE_URL");
      expect(target.calls).toEqual([]);
    },
  );

  test.each([
    ["", {}],
    [", nor by a custom fetch", { fetch }],
  ])("a POST is not repeated at the target either%s", async (_name, options) => {
    const target = await serve(json(201, {}));
    const headers = { location: `${target.url}/elsewhere` };
    const { client } = await serve(json(307, {}, headers), options);
    expect(await rejection(client.dms.send("c_1", { text: "hi" }))).toMatchObject({
      code: "API_REDIRECT",
    });
    expect(target.calls).toEqual([]);
  });

  test("the target would have answered", async () => {
    const target = await serve(json(200, { username: "thief" }));
    await target.client.me();
    expect(target.calls).toHaveLength(1);
  });
});

describe("no answer is a NetworkError", () => {
  test("nothing listens: the request cannot have been sent", async () => {
    const nobody = new Client({
      retries: 0,
      baseUrl: `http://127.0.0.1:${await reservePort()}`,
      apiKey,
    });
    const error = await rejection(nobody.me());
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: "API_UNREACHABLE", sent: false });
    expect((error as Error).message).toMatch(/nothing is listening.*SERVICE_BASE_URL/);
  });

  test("the connection is reset after the request: it may have been sent", async () => {
    const { client, calls } = await serve((response) => response.socket?.resetAndDestroy());
    const error = await rejection(client.dms.send("c_1", { text: "hi" }));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: "API_UNREACHABLE", sent: true });
    expect(calls).toHaveLength(1);
  });

  test("the answer breaks off: it was sent", async () => {
    const { client } = await serve((response) => {
      response.writeHead(201, { "content-length": "100" }).write('{"id":');
      response.socket?.destroySoon();
    });
    expect(await rejection(client.dms.send("c_1", { text: "hi" }))).toMatchObject({
      code: "API_UNREACHABLE",
      sent: true,
    });
  });

  test.each<[string, boolean]>([
    ["ECONNREFUSED", false],
    ["ENOTFOUND", false],
    ["EAI_AGAIN", false],
    ["EHOSTUNREACH", false],
    ["ENETUNREACH", false],
    ["UND_ERR_CONNECT_TIMEOUT", false],
    ["ECONNRESET", true],
    ["EPIPE", true],
    ["UND_ERR_SOCKET", true],
    ["SOMETHING_NEW", true],
  ])("%s: sent is %s", async (code, sent) => {
    const cause = Object.assign(new Error("below"), { code });
    const several = new AggregateError([cause, cause]);
    for (const error of [cause, new TypeError("fetch failed", { cause }), several]) {
      expect(await rejection(failingClient(error).me())).toMatchObject({
        code: "API_UNREACHABLE",
        sent,
        cause: error,
      });
    }
  });

  test.each(["EHOSTUNREACH", "ENETUNREACH"])(
    "%s while reading or writing comes of a connection that was there",
    async (code) => {
      const errors = ["read", "write"].map((syscall) =>
        Object.assign(new Error("below"), { code, syscall }),
      );
      const connecting = Object.assign(new Error("below"), { code, syscall: "connect" });
      const mixed = new AggregateError([connecting, ...errors]);
      for (const [error, sent] of [
        ...errors.map((one) => [one, true]),
        [mixed, true],
        [connecting, false],
      ] as const) {
        expect(await rejection(failingClient(error).me())).toMatchObject({ sent });
      }
    },
  );

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_GET_ISSUER_CERT", "NODE_EXTRA_CA_CERTS"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "NODE_EXTRA_CA_CERTS"],
    ["CERT_HAS_EXPIRED", "has expired, or this machine's clock is wrong"],
    ["CERT_NOT_YET_VALID", "is not valid yet, or this machine's clock is wrong"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "is for another name. Check SERVICE_BASE_URL"],
  ])("%s: the request was not sent, and the remedy is named", async (code, remedy) => {
    const error = new TypeError("fetch failed", {
      cause: Object.assign(new Error("below"), { code }),
    });
    expect(await rejection(failingClient(error).me())).toMatchObject({
      sent: false,
      message: expect.stringContaining(remedy),
    });
  });

  test("a platform that switches to another protocol is a failure", async () => {
    const { client } = await serve((response) => {
      response.socket?.end(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      );
    });
    expect(await rejection(client.me())).toMatchObject({ code: "API_UNREACHABLE", sent: true });
  });

  test("a failure without a code has the message of its cause", async () => {
    const error = new TypeError("fetch failed", { cause: new Error("bad port") });
    expect(await rejection(failingClient(error).me())).toMatchObject({
      message: expect.stringContaining("bad port"),
    });
  });

  test("an error without a code is taken as sent: better to look than to say something twice", async () => {
    const client = failingClient(new Error("what now"));
    expect(await rejection(client.me())).toMatchObject({ code: "API_UNREACHABLE", sent: true });
  });

  test("a text that is no string was never sent, and is the caller's error", async () => {
    const { client, calls } = await serve(json(201, {}));
    // @ts-expect-error A message's text is a string.
    const sending = client.dms.send("c_1", { text: 5n });
    expect(await rejection(sending)).toMatchObject({ code: "INVALID_OPTION" });
    expect(calls).toEqual([]);
  });
});

describe("the deadline", () => {
  const never: Responder = () => undefined;
  const neverEnding: Responder = (response) => void response.writeHead(200).write('{"username":');

  test.each([
    ["no answer begins", never],
    ["a body never ends", neverEnding],
  ] satisfies [string, Responder][])("ends a request when %s", async (_name, respond) => {
    const { client } = await serve(respond, { timeoutMs: 50 });
    const error = await rejection(client.me());
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: "API_TIMEOUT", sent: true });
    expect((error as Error).message).toContain("50 ms");
  });

  test("ends an error whose body never ends, with the status that had come", async () => {
    const endless: Responder = (response) => void response.writeHead(503).write("{");
    const clock = new ManualClock();
    const came = Promise.withResolvers<void>();
    const { client } = await serve(endless, {
      clock,
      timeoutMs: 50,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        came.resolve();
        return response;
      },
    });
    const request = rejection(client.me());
    await came.promise;
    await clock.advance(50);
    expect(await request).toMatchObject({ code: "API_ERROR", status: 503 });
  });

  test("follows the clock that the client was given", async () => {
    const clock = new ManualClock();
    const asked = Promise.withResolvers<void>();
    const { client } = await serve(() => asked.resolve(), { timeoutMs: 3_600_000, clock });
    const request = rejection(client.me());
    await asked.promise;
    await clock.advance(3_600_000);
    expect(await request).toMatchObject({ code: "API_TIMEOUT" });
  });

  test("is not left behind when the request is over", async () => {
    const clock = new ManualClock();
    const { client } = await serve(json(200, {}), { clock });
    await client.me();
    expect(clock.waiting).toBe(0);
  });

  test("is 10 s by default", () => {
    expect(clientOver(fetch).longestCallMs).toBe(10_000);
    expect(clientOver(fetch, { timeoutMs: 5 }).longestCallMs).toBe(5);
  });
});

test.each(Object.entries(unreadable))("the fetch option may throw %s", async (_name, value) => {
  expect(await rejection(failingClient(value()).me())).toMatchObject({
    code: "API_UNREACHABLE",
    sent: true,
  });
});
