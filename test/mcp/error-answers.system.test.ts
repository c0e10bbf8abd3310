import { createServer } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import { apiKey, json, type Responder } from "../client/api.ts";
import type { Failure } from "../faces/mcp.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { call, failureIn } from "./call.ts";
import { clientOf, mcpOverHttp } from "./connect.ts";
import { everyTool, writingTools } from "./every-tool.ts";
import { ImpatientClock } from "./impatient-clock.ts";
import { knowing, serve } from "./stub.ts";

/** Whatever the platform answers, each tool tells it as a failed call; here the platform is a server that answers so. */

const DOUBT = /Whether it was carried out is not known: look before you call again/;
const IN_A_MINUTE = /Try again in a minute\.$/;

/** An error as the platform may write it; in its words is the token, which it saw. */
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
  /** What the text says that reading and writing tools answer. */
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

/** A code of section 7, as the platform gives it. */
function coded(status: number, code: string, remedy: RegExp): Row {
  const failure = { code, status, retryable: status >= 429 };
  return row(`${status} ${code}`, refusal(status, code), failure, remedy);
}

const rows: readonly Row[] = [
  coded(400, "BLOCKED_HOST", /https address on the public internet/),
  coded(400, "NOT_IMAGE", /the address of the image itself/),
  coded(400, "TOO_LARGE", /make it smaller/),
  coded(400, "VALIDATION", /Mend the arguments/),
  coded(400, "INVALID_IMAGE_KEY", /upload again/),
  coded(400, "TOO_MANY_IMAGES", /at most 4/),
  coded(400, "GROUP_UNSUPPORTED", /only conversations of two/),
  coded(400, "EMPTY", /Give text, imageKeys or both/),
  coded(400, "TOO_LONG", /Shorten the text/),
  coded(403, "AGENT_SCOPE_MISSING", /Check the scopes of the token in the developer portal/),
  coded(403, "BLOCKED", /do not try again/),
  coded(404, "NOT_FOUND", /no such thing, or the bot has no part in it/),
  coded(429, "QUOTA_EXCEEDED", /the next day\.$/),
  coded(503, "NOT_CONFIGURED", /no storage for uploads/),
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
    /Check the scopes of the token/,
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
    /Is SERVICE_BASE_URL the platform's address\? Tell whoever has set this up/,
    DOUBT,
  ),
  row(
    "a redirect",
    (response) => response.writeHead(302, { location: "https://elsewhere.example/" }).end(),
    { code: "API_REDIRECT", status: 302, retryable: false },
    /set SERVICE_BASE_URL \(baseUrl\) to the final address/,
  ),
  row(
    "a connection that breaks",
    cut,
    { code: "API_UNREACHABLE", retryable: true },
    /broke before the answer came.* Try again in a minute\.$/,
    DOUBT,
  ),
];

describe.each(["legacy", "modern"] as const)("over HTTP, %s", (era) => {
  let clock: ImpatientClock;
  beforeEach(() => {
    clock = new ImpatientClock();
  });

  async function connected(url: string) {
    const { url: mcp } = await mcpOverHttp({
      ...{ baseUrl: url, clock },
      scopes: ["read", "posts:write", "comments:write", "dm"],
    });
    return await clientOf(mcp, apiKey, era);
  }

  test.each(rows)("%s is told by every tool", async (_name, answer, expected, words) => {
    const { url } = await serve(answer);
    const client = await connected(url);
    const calls = everyTool.map(async ([name, args, request]) => {
      const outcome = await call(client, name, args);
      const failure = failureIn(outcome);
      const said = request.startsWith("GET") ? words.reads : words.writes;
      // Done a second time it may be there twice.
      const retryable = expected.retryable && said !== DOUBT;
      expect(failure, name).toEqual({ ...expected, retryable, message: expect.any(String) });
      expect(failure.message).toMatch(said);
      expect(JSON.stringify(outcome)).not.toContain(apiKey);
    });
    await Promise.all(calls);
  });

  test("what is not as documented is named", async () => {
    const { url } = await serve(json(200, 5));
    const client = await connected(url);
    // What is answered to a post and a comment is not documented: whatever comes is good.
    const free = ["service_create_post", "service_create_comment"];
    for (const [name, args, request] of everyTool) {
      const called = await call(client, name, args);
      if (free.includes(name)) {
        expect(called.result.isError).toBeFalsy();
        continue;
      }
      const { code, message } = failureIn(called);
      expect(code, name).toBe("API_INVALID_RESPONSE");
      expect(message).toMatch(/the answer is not as documented: body: .*expected object/);
      if (request.startsWith("POST")) expect(message).toMatch(DOUBT);
    }
  });

  test("a platform that is away: nothing was sent, and nothing is in doubt", async () => {
    const platform = createServer((request, response) => knowing(response, request));
    const client = await connected((await listenUntilEnd(platform)).url);
    platform.close();
    platform.closeAllConnections();
    for (const [name, args] of everyTool) {
      const failure = failureIn(await call(client, name, args));
      expect(failure, name).toMatchObject({ code: "API_UNREACHABLE", retryable: true });
      expect(failure).not.toHaveProperty("status");
      expect(failure.message).toMatch(/cannot be reached.* Is the platform running.* in a minute/);
    }
  });

  test("a platform that does not answer: what was written may be there", async () => {
    const { url, calls } = await serve(() => undefined);
    const client = await connected(url);
    for (const [name, args] of everyTool) {
      const before = calls.length;
      const under = call(client, name, args);
      await expect.poll(() => calls.length, { interval: 1 }).toBeGreaterThan(before);
      clock.expire();
      const failure = failureIn(await under);
      expect(failure, name).toMatchObject({ code: "API_TIMEOUT" });
      const isWriting = writingTools.some(([writing]) => writing === name);
      expect(failure.retryable, name).toBe(!isWriting);
      expect(failure.message).toMatch(isWriting ? DOUBT : IN_A_MINUTE);
    }
  });

  test("a 503 that is not the platform's own: a write may be there, and is sent once", async () => {
    for (const [name, args] of writingTools) {
      let tries = 0;
      const { url } = await serve((response, request) => {
        tries += 1;
        raw(503, "busy")(response, request);
      });
      const { code, message } = failureIn(await call(await connected(url), name, args));
      expect([name, code, tries]).toEqual([name, "API_ERROR", 1]);
      expect(message).toMatch(DOUBT);
    }
  });
});
