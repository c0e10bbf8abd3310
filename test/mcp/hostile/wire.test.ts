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

test("over stdio a message that is too long ends the connection", async () => {
  const wire = wireTo((await serve(me)).url);
  wire.send(initialize);
  await wire.next();
  wire.stdin.write("x".repeat(TOO_LONG + 1));
  await wire.connection.ended;
});
