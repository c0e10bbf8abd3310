import { once } from "node:events";
import { expect, test } from "vitest";
import { json } from "../../client/api.ts";
import { mcpOverHttp } from "../connect.ts";
import { serve } from "../stub.ts";
import { calling, garbage, revision2025 as headers, initialize, post, wireTo } from "./raw.ts";

const me = json(200, { username: "bot" });
const TOO_LONG = 20 * 1024 * 1024;

test("over HTTP a line that is no message is answered 400, and the next one is served", async () => {
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

test("over stdio a line that is no message is passed over, and the next one is served", async () => {
  const wire = wireTo((await serve(me)).url);
  wire.send(...garbage, initialize, ...garbage, calling(2, "service_get_me"));
  expect(await wire.next()).toMatchObject({ id: "init", result: {} });
  expect(await wire.next()).toMatchObject({
    id: 2,
    result: { structuredContent: { username: "bot" } },
  });
});

/** A call that is too long, with its fields in the order in which clients write them. */
const long: readonly (readonly [string, unknown, (padding: string) => string])[] = [
  ["the id last", 5, (text) => `{"method":"ping","params":{"a":"${text}"},"jsonrpc":"2.0","id":5}`],
  [
    "the id first",
    "five",
    (text) => `{"jsonrpc":"2.0","id":"five","method":"ping","params":"${text}"}`,
  ],
  ["no id", null, (text) => text],
  ["an id in a text", null, (text) => `{"params":"${text},\\"id\\":5}"`],
];

test.each(long)(
  "over stdio a message that is too long gets an error, with %s",
  async (_, id, write) => {
    const wire = wireTo((await serve(me)).url);
    wire.send(initialize);
    await wire.next();
    wire.send(write("x".repeat(TOO_LONG + 1)));
    const error = { code: -32_600, message: expect.stringContaining(`${TOO_LONG}`) };
    expect(await wire.next()).toEqual({ jsonrpc: "2.0", id, error });
    wire.send(calling(6, "service_get_me"));
    expect(await wire.next()).toMatchObject({ id: 6, result: {} });
  },
);

test("over stdio a line of 200 MB is answered without being kept", async () => {
  const wire = wireTo((await serve(me)).url);
  const chunk = Buffer.alloc(1024 * 1024, "x");
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let n = 0; n < 200; n++) {
    if (!wire.stdin.write(chunk)) await once(wire.stdin, "drain");
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  wire.stdin.write("\n");
  expect(await wire.next()).toMatchObject({ id: null, error: { code: -32_600 } });
  expect(most).toBeLessThan(3 * TOO_LONG);
  wire.send(initialize);
  expect(await wire.next()).toMatchObject({ id: "init", result: {} });
});
