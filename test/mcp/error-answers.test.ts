import { beforeEach, expect, test } from "vitest";
import { apiKey, json, type Responder, serve } from "../client/api.ts";
import { world } from "../client/platform.ts";
import { section7 } from "../contract/section-7.ts";
import { reservePort } from "../support/reserve-port.ts";
import { connectDirectly, failureIn } from "./call.ts";
import { everyTool, writingTools } from "./every-tool.ts";
import type { Failure } from "./face.ts";
import { ImpatientClock } from "./impatient-clock.ts";

/**
 * Every tool turns every error response from the platform into a failed call. The platform here is a server that always
 * sends the same response.
 */

const DOUBT = /may or may not have taken effect/;
const IN_A_MINUTE = /Try again in a minute\.$/;

/** The message contains the token, because the platform has seen the token and may repeat it. */
function refusal(status: number, code: string, headers: Record<string, string> = {}): Responder {
  const message = `no\nluck \u202e with ${apiKey}`;
  return json(status, { error: { code, message } }, headers);
}

const raw = (status: number, body: string): Responder => {
  return (response) => response.writeHead(status, { "content-type": "text/html" }).end(body);
};

const cut: Responder = (response) => response.socket?.destroy();

type Row = readonly [
  name: string,
  answer: Responder,
  failure: Omit<Failure, "message">,
  text: { readonly reads: RegExp; readonly writes: RegExp },
];

function row(
  name: string,
  answer: Responder,
  failure: Omit<Failure, "message">,
  reads: RegExp,
  writes: RegExp = reads,
): Row {
  return [name, answer, failure, { reads, writes }];
}

const rows: readonly Row[] = [
  ...Object.entries(section7).map(([code, { status, remedy }]) => {
    const failure = { code, status, retryable: status >= 429 };
    return row(`${status} ${code}`, refusal(status, code), failure, remedy);
  }),
  row(
    "401",
    refusal(401, "UNAUTHORIZED"),
    { code: "UNAUTHORIZED", status: 401, retryable: false },
    /Check SERVICE_API_KEY/,
  ),
  row(
    "403 of a code that is not shown",
    refusal(403, "FORBIDDEN"),
    { code: "FORBIDDEN", status: 403, retryable: false },
    /scopes/,
  ),
  row(
    "a rate limit that says until when",
    refusal(429, "RATE_LIMITED", { "retry-after": "7" }),
    { code: "RATE_LIMITED", status: 429, retryable: true, retryAfterMs: 7_000 },
    /Try again in 7 seconds\.$/,
  ),
  row(
    "a quota with a second to go",
    refusal(429, "QUOTA_EXCEEDED", { "retry-after": "1" }),
    { code: "QUOTA_EXCEEDED", status: 429, retryable: true, retryAfterMs: 1_000 },
    /Try again in a second\.$/,
  ),
  row(
    "a rate limit that is over",
    refusal(429, "RATE_LIMITED", { "retry-after": "0" }),
    { code: "RATE_LIMITED", status: 429, retryable: true, retryAfterMs: 0 },
    /Try again now\.$/,
  ),
  row(
    "a rate limit that does not say until when",
    refusal(429, "RATE_LIMITED"),
    { code: "RATE_LIMITED", status: 429, retryable: true },
    IN_A_MINUTE,
  ),
  row(
    "a rate limit without a word",
    raw(429, ""),
    { code: "API_ERROR", status: 429, retryable: true },
    IN_A_MINUTE,
  ),
  row(
    "a quota with Retry-After",
    refusal(429, "QUOTA_EXCEEDED", { "retry-after": "1800" }),
    { code: "QUOTA_EXCEEDED", status: 429, retryable: true, retryAfterMs: 1_800_000 },
    /Try again in 1800 seconds\.$/,
  ),
  row(
    "a new code",
    refusal(418, "TEAPOT_ONLY"),
    { code: "TEAPOT_ONLY", status: 418, retryable: false },
    /no\\u000aluck \\u202e with/,
  ),
  row(
    "500 without JSON",
    raw(500, "<html>oops</html>"),
    { code: "API_ERROR", status: 500, retryable: true },
    IN_A_MINUTE,
    DOUBT,
  ),
  row(
    "502 of a gateway",
    raw(502, "Bad Gateway"),
    { code: "API_ERROR", status: 502, retryable: true },
    IN_A_MINUTE,
    DOUBT,
  ),
  row(
    "200 that calls itself a failure",
    json(200, { ok: false, error: "it did not work" }),
    { code: "API_ERROR", status: 200, retryable: false },
    /it did not work/,
    DOUBT,
  ),
  row(
    "a web page",
    raw(200, "<html>Sign in</html>"),
    { code: "API_INVALID_RESPONSE", retryable: false },
    /Check SERVICE_BASE_URL\. Inform the operator/,
    DOUBT,
  ),
  row(
    "a redirect",
    (response) => response.writeHead(302, { location: "https://elsewhere.example/" }).end(),
    { code: "API_REDIRECT", status: 302, retryable: false },
    /Set SERVICE_BASE_URL \(baseUrl\) to the final URL/,
  ),
  row(
    "a connection that breaks",
    cut,
    { code: "API_UNREACHABLE", retryable: true },
    /closed before a response.* Try again in a minute\.$/,
    DOUBT,
  ),
];

let clock: ImpatientClock;
beforeEach(() => {
  clock = new ImpatientClock();
});

test.each(rows)("%s is a failure of every tool", async (_name, answer, expected, words) => {
  const { url } = await serve(answer);
  const calls = everyTool.map(async ([name, args, request]) => {
    // Each call has its own client, because a rate limit hit by one call would delay the others.
    const called = await connectDirectly({ baseUrl: url, clock })(name, args);
    const failure = failureIn(called);
    const pattern = request.startsWith("GET") ? words.reads : words.writes;
    // A write that is repeated could take effect twice.
    const retryable = expected.retryable && pattern !== DOUBT;
    expect(failure, name).toEqual({ ...expected, retryable, message: expect.any(String) });
    expect(failure.message).toMatch(pattern);
    expect(JSON.stringify(called)).not.toContain(apiKey);
  });
  await Promise.all(calls);
});

test("an answer that is not as documented is named", async () => {
  const { url } = await serve(json(200, 5));
  const call = connectDirectly({ baseUrl: url, clock });
  // The platform document does not describe the responses to a post and a comment, so any response is valid.
  const free = ["service_create_post", "service_create_comment"];
  for (const [name, args, request] of everyTool) {
    const called = await call(name, args);
    if (free.includes(name)) {
      expect(called.result.isError).toBeFalsy();
      continue;
    }
    const { code, message } = failureIn(called);
    expect(code, name).toBe("API_INVALID_RESPONSE");
    expect(message).toMatch(/unexpected response: body: .*expected object/);
    if (request.startsWith("POST")) expect(message).toMatch(DOUBT);
  }
});

test("a platform that is away got nothing, so nothing is in doubt", async () => {
  const baseUrl = `http://127.0.0.1:${await reservePort()}`;
  for (const [name, args] of everyTool) {
    const failure = failureIn(await connectDirectly({ baseUrl, clock })(name, args));
    expect(failure, name).toMatchObject({ code: "API_UNREACHABLE", retryable: true });
    expect(failure).not.toHaveProperty("status");
    expect(failure.message).toMatch(/cannot reach.* Is the platform running.* in a minute/);
  }
});

test("a platform that does not answer leaves a write in doubt", async () => {
  const { url, calls } = await serve(() => undefined);
  for (const [name, args] of everyTool) {
    const before = calls.length;
    const pending = connectDirectly({ baseUrl: url, clock })(name, args);
    await expect.poll(() => calls.length, { interval: 1 }).toBeGreaterThan(before);
    clock.expire();
    const failure = failureIn(await pending);
    expect(failure, name).toMatchObject({ code: "API_TIMEOUT" });
    const isWriting = writingTools.some(([writing]) => writing === name);
    expect(failure.retryable, name).toBe(!isWriting);
    expect(failure.message).toMatch(isWriting ? DOUBT : IN_A_MINUTE);
  }
});

test("a 503 that is not the platform's own leaves a write in doubt, and it is sent once", async () => {
  for (const [name, args] of writingTools) {
    const { url, calls } = await serve(raw(503, "busy"));
    const { code, message } = failureIn(await connectDirectly({ baseUrl: url, clock })(name, args));
    expect([name, code, calls.length]).toEqual([name, "API_ERROR", 1]);
    expect(message).toMatch(DOUBT);
  }
});

test("a write whose answer is lost was carried out, and the failure asks to look first", async () => {
  for (const [name, args] of writingTools) {
    const { platform } = await world();
    platform.control.setFaults({ api: { mode: "lose-answer", match: "write" } });
    const call = connectDirectly({
      ...{ baseUrl: platform.url, apiKey: platform.apiKey, fetch: platform.fetch },
    });
    const failure = failureIn(await call(name, args));
    expect(failure).toMatchObject({ code: "API_UNREACHABLE", retryable: false });
    expect(failure.message).toMatch(DOUBT);
  }
});

const MINUTE_MS = 60_000;

test("the error about the request limit says when to try again", async () => {
  const { platform, clock } = await world();
  // Wait for a new minute, because near the end of a minute the client would wait for the next one.
  clock.advance(MINUTE_MS - (clock.now() % MINUTE_MS));
  platform.control.setLimits({ requestsPerMinute: 0 });
  const call = connectDirectly({
    ...{ baseUrl: platform.url, apiKey: platform.apiKey, fetch: platform.fetch },
  });
  const failure = failureIn(await call("service_get_me"));
  expect(failure).toMatchObject({ code: "RATE_LIMITED", status: 429, retryAfterMs: MINUTE_MS });
  expect(failure.retryable).toBe(true);
  expect(failure.message).toContain(" Try again in 60 seconds.");
});

test("after a long limit every call fails and says until when", async () => {
  const { url } = await serve(refusal(429, "RATE_LIMITED", { "retry-after": "40" }));
  const call = connectDirectly({ baseUrl: url });
  const first = failureIn(await call("service_get_me"));
  expect(first).toMatchObject({ status: 429, retryable: true, retryAfterMs: 40_000 });
  expect(failureIn(await call("service_get_feed"))).toMatchObject({
    ...{ code: "API_CIRCUIT_OPEN", retryable: true, retryAfterMs: expect.any(Number) },
    message: expect.stringMatching(/Next attempt in \d+ s\.$/),
  });
});
