import { describe, expect, test } from "vitest";
import { Client, type ClientOptions } from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";

const good: ClientOptions = { baseUrl: "https://platform.example", apiKey: "sbk_1" };

function refusal(options: Partial<ClientOptions>): ServiceBotError {
  try {
    new Client({ ...good, ...options });
  } catch (error) {
    if (error instanceof ServiceBotError) return error;
    throw error;
  }
  throw new Error("the options were accepted");
}

describe("a client takes", () => {
  test.each<Partial<ClientOptions>>([
    {},
    { baseUrl: "http://127.0.0.1:4400" },
    { baseUrl: "https://platform.example/" },
    { baseUrl: "https://host.example/social" },
    { baseUrl: "https://host.example/a/b/" },
    { timeoutMs: 1 },
    { retries: 0 },
    { retries: 10 },
    { retries: undefined },
  ])("%j", (options) => {
    expect(() => new Client({ ...good, ...options })).not.toThrow();
  });
});

test.each([
  ["https://host.example", "https://host.example/api/v1/me"],
  ["https://host.example//", "https://host.example/api/v1/me"],
  ["https://host.example/social", "https://host.example/social/api/v1/me"],
  ["https://host.example/a/b/", "https://host.example/a/b/api/v1/me"],
])("a platform at %s gets requests at %s", async (baseUrl, url) => {
  const urls: string[] = [];
  const send = async (asked: string) => {
    urls.push(asked);
    return Response.json({});
  };
  await new Client({ ...good, baseUrl, fetch: send }).me();
  expect(urls).toEqual([url]);
});

describe("a client refuses", () => {
  test.each<[name: string, options: Partial<ClientOptions>]>([
    ["baseUrl", { baseUrl: "" }],
    ["baseUrl", { baseUrl: "platform.example" }],
    ["baseUrl", { baseUrl: "ftp://platform.example" }],
    ["baseUrl", { baseUrl: "https://platform.example/api/v1" }],
    ["baseUrl", { baseUrl: "https://host.example/social/api/v1/" }],
    ["baseUrl", { baseUrl: "https://platform.example?a=1" }],
    ["baseUrl", { baseUrl: "https://platform.example/social#here" }],
    ["baseUrl", { baseUrl: "https://ada:opensesame@platform.example" }],
    ["apiKey", { apiKey: "" }],
    ["apiKey", { apiKey: "opensesame and more" }],
    ["apiKey", { apiKey: "opensesame\r\nx-injected: 1" }],
    ["apiKey", { apiKey: "opensesäme" }],
    // TypeScript rejects this value, but a JavaScript caller can pass it.
    ["apiKey", { apiKey: undefined as unknown as string }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["timeoutMs", { timeoutMs: Number.POSITIVE_INFINITY }],
    ["retries", { retries: -1 }],
    ["retries", { retries: 11 }],
    ["retries", { retries: 1.5 }],
    ["maxRequestsPerMinute", { maxRequestsPerMinute: 0 }],
  ])("%s: %j, and never shows a secret", (name, options) => {
    const error = refusal(options);
    expect(error.code).toBe("INVALID_OPTION");
    expect(error.message).toMatch(new RegExp(`^${name} must `));
    expect(`${error.stack}`).not.toMatch(/opensesame|injected/);
  });

  test("everything at once", () => {
    const { message } = refusal({ baseUrl: "x", apiKey: "", timeoutMs: -1, retries: -1 });
    for (const name of ["baseUrl", "apiKey", "timeoutMs", "retries"])
      expect(message).toContain(name);
  });
});
