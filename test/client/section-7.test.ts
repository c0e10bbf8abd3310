import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refusalContract } from "../contract/refusal-contract.ts";
import { section7 } from "../contract/section-7.ts";
import { Client, Http, platformCodes } from "../faces/client.ts";
import { anything } from "../faces/core.ts";
import { rejection } from "./api.ts";

/**
 * Checks section 7 of the platform document with the client's methods, and with requests that bypass the client's
 * checks.
 */
refusalContract(async ({ url, token, fetch }, attempt, { family, ...refused }) => {
  const access = { baseUrl: url, apiKey: attempt.token ?? token, fetch, retries: 0 };
  const { method, path, body, byClient } = attempt;
  const sent = body instanceof FormData ? { form: body } : { json: body };
  const requests = [
    new Http(access).request(method, path, anything, method === "GET" ? {} : sent),
    ...(byClient === undefined ? [] : [byClient(new Client(access))]),
  ];
  for (const error of await Promise.all(requests.map(rejection))) {
    const { code, status, retryable } = refused;
    expect(error).toBeInstanceOf(family);
    expect(error).toMatchObject({ code, status, platformCode: code, retryable });
  }
});

test("the contract covers every code of the client", () => {
  expect(Object.keys(section7).sort()).toEqual([...platformCodes].sort());
});

test("the catalogue of errors gives each code its status", () => {
  const catalogue = readFileSync(
    new URL("../../docs/reference/errors.md", import.meta.url),
    "utf8",
  );
  for (const [code, { status }] of Object.entries(section7)) {
    expect(catalogue, code).toMatch(new RegExp(`^\\| \`${code}\` \\| ${status}\\. `, "m"));
  }
});
