import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ProtocolError } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { apiKey, json, rejection } from "../../client/api.ts";
import { COMPILE_CACHE } from "../../support/process.ts";
import { mcpOverHttp, overHttp } from "../connect.ts";
import { everyScope, everyTool } from "../every-tool.ts";
import { serve } from "../stub.ts";
import { calling, revision2025 as headers, initialize, post, wireTo } from "./raw.ts";

const me = json(200, { username: "bot" });
const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
/** Over stdio, and so over HTTP. */
const TOO_LONG = 20 * 1024 * 1024;

const garbage = [
  "",
  "hello",
  "{",
  '"text"',
  "null",
  "[]",
  "5",
  "{}",
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  '{"jsonrpc":"2.0","id":7,"method":5}',
  '{"jsonrpc":"2.0","id":"nobody asked","result":{}}',
  "\u0000\u001b[2J",
  "[".repeat(50_000),
];

const strange = [
  "service_get_mee",
  "__proto__",
  "constructor",
  "toString",
  "",
  "x".repeat(100_000),
];

describe.each(["legacy", "modern"] as const)("over HTTP, %s", (era) => {
  test("a tool that does not exist is an error of the protocol that lists those that do", async () => {
    const { url, calls } = await serve(me);
    const client = await overHttp({ url, apiKey, scopes: everyScope, era });
    // The name is a header of the protocol of 2026, and those are not so long.
    for (const name of strange.map((name) => (era === "modern" ? name.slice(0, 4_000) : name))) {
      const error = await rejection(client.callTool({ name, arguments: {} }));
      expect(error, name.slice(0, 50)).toBeInstanceOf(ProtocolError);
      const { code, message } = error as ProtocolError;
      expect(code).toBe(-32_602);
      expect(message).toContain(JSON.stringify(name.slice(0, 100)));
      for (const [tool] of everyTool) expect(message).toContain(tool);
      expect(message.length).toBeLessThan(700);
    }
    expect(calls).toEqual([]);
  });
});

test("over HTTP what is no message is answered with what is wrong, and the next one is served", async () => {
  const { url } = await mcpOverHttp({ baseUrl: (await serve(me)).url, scopes: ["read"] });
  for (const line of garbage.filter((line) => !line.includes("nobody asked"))) {
    const response = await post(url, line, headers);
    expect(response.status, line.slice(0, 50)).toBe(400);
    expect(await response.json()).toMatchObject({
      jsonrpc: "2.0",
      error: { code: expect.any(Number) },
    });
  }
  for (const args of [null, [], "text", 5]) {
    const answer = await (await post(url, calling(1, "service_get_me", args), headers)).text();
    expect(answer).toMatch(/"code":-3260[0-9]/);
  }
  const good = await (await post(url, calling(2, "service_get_me"), headers)).text();
  expect(good).toContain("username: bot");
});

test("over HTTP a message that is too long is answered with 413, whether it says so or not", async () => {
  const { url } = await mcpOverHttp({ baseUrl: (await serve(me)).url, scopes: ["read"] });
  const long = JSON.stringify(calling(1, "service_get_me", { x: "x".repeat(TOO_LONG) }));
  for (const also of [headers, {}, { "mcp-protocol-version": "2026-07-28" }]) {
    expect((await post(url, long, also)).status).toBe(413);
    expect((await post(url, new Blob([long]), also)).status).toBe(413);
  }
  const good = await (await post(url, calling(2, "service_get_me"), headers)).text();
  expect(good).toContain("username: bot");
});

test("over stdio what is no message is passed over, and the next one is served", async () => {
  const wire = wireTo((await serve(me)).url);
  wire.send(...garbage, initialize, ...garbage, calling(2, "service_get_me"));
  expect(await wire.next()).toMatchObject({ id: "init", result: {} });
  expect(await wire.next()).toMatchObject({
    id: 2,
    result: { structuredContent: { username: "bot" } },
  });
});

test("over stdio a message that is too long ends the connection", async () => {
  const wire = wireTo((await serve(me)).url);
  wire.send(initialize);
  await wire.next();
  wire.stdin.write("x".repeat(TOO_LONG + 1));
  await wire.connection.ended;
});

test("the process ends then, too; and nothing but the protocol was on standard output", async () => {
  const { url } = await serve(me);
  const env = { SERVICE_BASE_URL: url, SERVICE_API_KEY: apiKey, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const child = spawn(process.execPath, [MAIN, "mcp", "--scopes", "read"], { env });
  const [out, errors] = [text(child.stdout), text(child.stderr)];
  child.stdin.on("error", () => undefined);
  for (const line of [...garbage, initialize, calling(2, "service_get_me"), calling(3, "none")]) {
    child.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  }
  // Once it has answered all of them.
  await new Promise<void>((resolve) => {
    let lines = 0;
    child.stdout.on("data", (part: Buffer) => {
      lines += part.toString().split("\n").length - 1;
      if (lines >= 3) resolve();
    });
  });
  child.stdin.write("x".repeat(TOO_LONG + 1));
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  const messages = (await out)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(messages.map(({ id }) => String(id)).sort()).toEqual(["2", "3", "init"]);
  for (const message of messages) expect(message.jsonrpc).toBe("2.0");
  expect(await errors).toMatch(/exceeded maximum size/);
  expect(await errors).not.toContain(apiKey);
});
