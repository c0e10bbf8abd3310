import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { ApiError } from "../faces/client.ts";
import { apiKey, json, type Responder, rejection, serve } from "./api.ts";

const MIB = 1024 * 1024;

function raw(status: number, body: string | Buffer, type = "application/json"): Responder {
  return (response) => response.writeHead(status, { "content-type": type }).end(body);
}

/** Responds with an endless body, and counts the bytes it has written. */
function endless(status: number): { readonly respond: Responder; readonly written: () => number } {
  let written = 0;
  return {
    written: () => written,
    respond(response) {
      response.writeHead(status, { "content-type": "application/json" }).write('{"username":"');
      const piece = Buffer.alloc(64 * 1024, "x");
      const more = () => {
        do written += piece.length;
        while (response.write(piece));
      };
      response.on("drain", more);
      more();
    },
  };
}

describe("an invalid response is described", () => {
  test.each<[name: string, respond: Responder, code: string, message: RegExp]>([
    ["truncated JSON", raw(200, '{"username":"bo'), "API_INVALID_RESPONSE", /not JSON/],
    [
      "a page of a proxy",
      raw(200, "<!doctype html><title>Sign in</title>", "text/html"),
      "API_INVALID_RESPONSE",
      /web page.*SERVICE_BASE_URL/,
    ],
    ["a page that says it is JSON", raw(200, "\n <html>"), "API_INVALID_RESPONSE", /web page/],
    [
      "another content type, whatever is in it",
      raw(200, '{"username":"bot"}', "image/png"),
      "API_INVALID_RESPONSE",
      /not JSON \(image\/png\)/,
    ],
    ["bytes", raw(200, Buffer.from([0xff, 0xfe, 0x00])), "API_INVALID_RESPONSE", /not JSON/],
    ["a number", raw(200, "5"), "API_INVALID_RESPONSE", /body: .*expected object/],
    ["nothing", raw(200, ""), "API_INVALID_RESPONSE", /body: .*expected object/],
    ["204", (response) => response.writeHead(204).end(), "API_INVALID_RESPONSE", /expected object/],
    [
      "a list in a list in a list",
      raw(200, "[".repeat(100_000) + "]".repeat(100_000)),
      "API_INVALID_RESPONSE",
      /expected object/,
    ],
    [
      "headers of 100 kB",
      (response) => response.writeHead(200, { "x-long": "x".repeat(100_000) }).end("{}"),
      "API_UNREACHABLE",
      /closed/,
    ],
  ])("%s", async (_name, respond, code, message) => {
    const { client, calls } = await serve(respond);
    expect(await rejection(client.me())).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(calls).toHaveLength(1);
  });

  test("and JSON under another name of it is taken", async () => {
    for (const type of [
      "application/json; charset=utf-8",
      "application/vnd.platform+json",
      "text/plain;charset=UTF-8",
    ]) {
      const { client } = await serve(raw(200, '{"username":"bot"}', type));
      expect(await client.me()).toEqual({ username: "bot" });
    }
  });
});

describe("200 with an error in its body", () => {
  test.each([
    ["{error: {code}}", { error: { code: "BLOCKED", message: "no" } }, "BLOCKED"],
    ["{error: CODE}", { error: "BLOCKED", message: "no" }, "BLOCKED"],
    ["a code that is new", { error: { code: "SO_NEW" } }, "API_ERROR"],
    ["{code, message}", { code: "QUOTA_EXCEEDED", message: "no" }, "QUOTA_EXCEEDED"],
    ["{error: {message}}", { error: { message: "Something failed" } }, "API_ERROR"],
    ["words", { error: "Something failed" }, "API_ERROR"],
    ["{ok: false}", { ok: false, message: "Something failed" }, "API_ERROR"],
  ])("%s is an error", async (_name, body, code) => {
    const { client } = await serve(json(200, body));
    const error = await rejection(client.dms.send("c_1", { text: "hi" }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code, status: 200, retryable: false });
    expect(await rejection(client.posts.create({ text: "hi" }))).toMatchObject({ code });
    expect(await rejection(client.me())).toMatchObject({ code });
  });
});

describe("a body without end", () => {
  test("is cut off at 8 MiB, and its connection with it", async () => {
    const { respond, written } = endless(200);
    const gone = Promise.withResolvers<void>();
    const { client } = await serve((response, request) => {
      request.socket.once("close", () => gone.resolve());
      respond(response, request);
    });
    expect(await rejection(client.me())).toMatchObject({
      code: "API_INVALID_RESPONSE",
      message: expect.stringContaining("longer than 8388608 bytes"),
    });
    await gone.promise;
    // The count includes bytes that are still in transit.
    expect(written()).toBeLessThan(32 * MIB);
  });

  test("of an error is cut off at 2 MiB, and its status is reported", async () => {
    const { respond, written } = endless(503);
    const { client } = await serve(respond);
    expect(await rejection(client.me())).toMatchObject({ code: "API_ERROR", status: 503 });
    expect(written()).toBeLessThan(24 * MIB);
  });
});

describe("the platform's name for a request", () => {
  test.each(["x-request-id", "request-id", "x-correlation-id"])(
    "is taken from %s",
    async (name) => {
      const { client } = await serve(json(500, {}, { [name]: "req_17" }));
      expect(await rejection(client.me())).toMatchObject({
        requestId: "req_17",
        message: expect.stringContaining("Request id: req_17."),
      });
    },
  );

  test("is taken from the body where no header has it", async () => {
    const { client } = await serve(json(400, { error: { code: "EMPTY" }, requestId: "req_18" }));
    expect(await rejection(client.me())).toMatchObject({ requestId: "req_18" });
  });

  test.each([
    ["blanks", "a b"],
    ["more than 200 characters", "x".repeat(201)],
  ])("is left out when it has %s", async (_name, requestId) => {
    const { client } = await serve(json(400, { requestId }));
    expect(await rejection(client.me())).toMatchObject({
      requestId: undefined,
      message: expect.not.stringContaining(requestId),
    });
  });
});

describe("an answer with far too much in it", () => {
  test.each([
    ["items", { items: Array.from({ length: 200_000 }, () => 0), nextCursor: null }],
    ["a bare list", Array.from({ length: 200_000 }, () => ({}))],
  ])("is not checked item by item: %s", async (_name, body) => {
    const { client } = await serve(json(200, body));
    const error = await rejection(client.feed());
    expect(error).toMatchObject({ code: "API_INVALID_RESPONSE" });
    expect((error as Error).message).toMatch(/200000 items/);
  });

  test.each([
    ["a million small values", Array(600_000).fill([])],
    ["20,000 field names", Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [n, 0]))],
  ])("is not parsed: %s", async (_name, more) => {
    const { client } = await serve(json(200, { username: "bot", more }));
    const error = await rejection(client.me());
    expect(error).toMatchObject({ code: "API_INVALID_RESPONSE" });
    expect((error as Error).message).toContain("too many values");
  });

  test("reports the first problem, and the number of others", async () => {
    const { client } = await serve(json(200, { items: Array.from({ length: 50 }, () => ({})) }));
    const { message } = (await rejection(client.dms.messages("c_1"))) as Error;
    expect(message).toMatch(/items\.0\.id: .*; and \d+ more/);
    expect(message.length).toBeLessThan(1_500);
  });
});

describe("what the platform quotes", () => {
  test.each([
    ["a sentence as the error", { error: `Incorrect API key provided: ${apiKey}` }],
    ["a code that is the token", { code: apiKey, message: "no" }],
    ["a request id that is the token", { code: "X", requestId: apiKey }],
  ])("never shows the token: %s", async (_name, body) => {
    const { client } = await serve(json(401, body));
    const error = await rejection(client.me());
    expect(error).toMatchObject({ name: "AccessError", status: 401 });
    expect(inspect(error, { depth: 9 })).not.toContain(apiKey);
  });

  test.each<[string, (text: string) => string]>([
    ["as it was", (text) => text],
    ["as its own address has it", (text) => `/search?${new URLSearchParams({ q: text })}`],
    ["in percent form", encodeURIComponent],
  ])("never shows what was searched for, %s", async (_name, say) => {
    const words = 'meet "me" at the pier';
    const { client } = await serve(json(400, { error: { code: "X", message: say(words) } }));
    const error = await rejection(client.search({ text: words }));
    expect((error as Error).message).toContain("[redacted]");
    expect(inspect(error, { depth: 9 })).not.toContain("pier");
  });

  test("as a code is a word: a sentence is a message, and nothing is longer than it should be", async () => {
    const { client } = await serve(json(400, { error: "x ".repeat(700_000) }));
    const error = (await rejection(client.me())) as ApiError;
    expect(error).toMatchObject({ code: "API_ERROR", platformCode: undefined });
    expect(error.message.length).toBeLessThan(3_000);
  });
});

describe("a success with an error in it", () => {
  test.each([
    { ok: true, postId: "p_1", error: "none" },
    { data: { id: "p_1" }, error: { code: "x" } },
    { error: null },
    { ok: true, error: "nothing went wrong" },
    { message: "made" },
  ])(
    "and something else is a success, for the answers to posts are not documented: %j",
    async (body) => {
      const { client } = await serve(json(201, body));
      expect(await client.posts.create({ text: "hi" })).toBeDefined();
    },
  );
});
