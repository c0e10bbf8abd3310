import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { allScopes, type Scope } from "../faces/core.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { clientOf, mcpOverHttp, overStdio, ways } from "./connect.ts";

/** Every set of scopes but the empty one. */
const subsets: readonly (readonly Scope[])[] = Array.from({ length: 15 }, (_, n) =>
  allScopes.filter((_scope, bit) => ((n + 1) & (1 << bit)) !== 0),
);

/** Which of its scopes each tool needs one of, in the order in which they are listed. */
const needs: Readonly<Record<string, readonly Scope[]>> = {
  service_get_me: ["read"],
  service_get_feed: ["read"],
  service_get_post: ["read"],
  service_list_comments: ["read"],
  service_get_user: ["read"],
  service_search: ["read"],
  service_list_conversations: ["dm"],
  service_list_messages: ["dm"],
  service_get_events: ["read", "dm"],
  service_create_post: ["posts:write"],
  service_create_comment: ["comments:write"],
  service_send_message: ["dm"],
  service_upload_image: ["posts:write", "comments:write", "dm"],
};

function toolsOf(scopes: readonly Scope[]): string[] {
  return Object.entries(needs)
    .filter(([, oneOf]) => oneOf.some((scope) => scopes.includes(scope)))
    .map(([name]) => name);
}

async function listed(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

test("the table is all there is", () => {
  expect(toolsOf(allScopes)).toHaveLength(13);
});

describe.each(ways)("over %s", (way, connect) => {
  test.each(subsets.map((scopes) => ({ scopes })))(
    "a token with $scopes lists what it can use",
    async ({ scopes }) => {
      const { platform } = await world();
      const apiKey = tokenWith(platform, ...scopes);
      const client = await connect({ url: platform.url, apiKey });
      expect(await listed(client)).toEqual(toolsOf(scopes));
    },
  );

  test("with --scopes it is not asked which ones the token has", async () => {
    const { platform } = await world();
    const asked: string[] = [];
    platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
    const client = await connect({ url: platform.url, apiKey: platform.apiKey, scopes: "dm,read" });
    expect(await listed(client)).toEqual(toolsOf(["dm", "read"]));
    // Over HTTP, whether the platform knows the token at all.
    expect(asked).toEqual(way.startsWith("HTTP") ? ["/feed"] : []);
  });

  test("a scope that turns out to be missing takes its tools off the list, and the client is told", async () => {
    const { platform } = await world();
    const apiKey = tokenWith(platform, "read", "dm");
    const client = await connect({ url: platform.url, apiKey, scopes: allScopes.join(",") });
    const { told } = await changes(client);
    expect(await listed(client)).toHaveLength(13);
    const { isError, content } = await client.callTool({
      name: "service_create_post",
      arguments: { text: "hello" },
    });
    expect({ isError, content }).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^AGENT_SCOPE_MISSING: .*developer portal/) }],
    });
    await told;
    expect(await listed(client)).toEqual(toolsOf(["read", "dm", "comments:write"]));
  });

  test("a tool that works although it was not listed comes onto the list", async () => {
    const { url, grant } = await platformThatGrants();
    const client = await connect({ url, apiKey: "sbk_any" });
    const { told } = await changes(client);
    expect(await listed(client)).toEqual(toolsOf(["read", "comments:write", "dm"]));
    grant();
    const { isError } = await client.callTool({
      name: "service_create_post",
      arguments: { text: "hello" },
    });
    expect(isError).toBeFalsy();
    await told;
    expect(await listed(client)).toHaveLength(13);
  });

  test("what --scopes leaves out is not carried out, whatever the token may do", async () => {
    const { platform } = await world();
    const asked: string[] = [];
    const client = await connect({ url: platform.url, apiKey: platform.apiKey, scopes: "read" });
    platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
    for (const name of ["service_create_post", "service_send_message", "service_upload_image"]) {
      const args = { text: "x", conversationId: "c_2", dataBase64: "AAAA" };
      const fields = {
        service_create_post: ["text"],
        service_send_message: ["text", "conversationId"],
        service_upload_image: ["dataBase64"],
      }[name] as (keyof typeof args)[];
      const { content } = await client.callTool({
        name,
        arguments: Object.fromEntries(fields.map((field) => [field, args[field]])),
      });
      expect(content).toMatchObject([
        { text: expect.stringMatching(/^AGENT_SCOPE_MISSING: .*--scopes\.$/) },
      ]);
    }
    expect(asked).toEqual([]);
    expect(await listed(client)).toEqual(toolsOf(["read"]));
  });
});

test("probes change nothing", async () => {
  const { platform } = await world();
  const contents = () => JSON.stringify([platform.control.posts(), platform.control.events()]);
  const before = contents();
  const { url } = await mcpOverHttp({ baseUrl: platform.url });
  await listed(await clientOf(url, platform.apiKey));
  expect(contents()).toBe(before);
});

test("a platform that is away cannot say: everything is listed", async () => {
  const client = await overStdio({ url: "http://127.0.0.1:9", apiKey: "sbk_any" });
  expect(await listed(client)).toHaveLength(13);
});

test("an app that is switched off keeps its tools, and each says why it does not work", async () => {
  const { platform } = await world();
  const { url } = await mcpOverHttp({ baseUrl: platform.url });
  const client = await clientOf(url, platform.apiKey);
  expect(await listed(client)).toHaveLength(13);
  platform.control.apps.set("bot", { disabled: true });
  const { content } = await client.callTool({
    name: "service_create_post",
    arguments: { text: "x" },
  });
  expect(content).toMatchObject([{ text: expect.stringMatching(/^APP_DISABLED: /) }]);
  expect(await listed(client)).toHaveLength(13);
});

test("a token that the platform does not know lists nothing, and says what to check", async () => {
  const { platform } = await world();
  const client = await overStdio({ url: platform.url, apiKey: "sbk_unknown" });
  await expect(client.listTools()).rejects.toThrow(
    /does not accept .*: check it .*SERVICE_API_KEY/,
  );
});

/** A platform whose token has every scope but `posts:write`, until it is granted. */
async function platformThatGrants(): Promise<{ readonly url: string; readonly grant: () => void }> {
  let granted = false;
  const { url } = await listenUntilEnd(
    createServer(async (request, response) => {
      const body = await text(request);
      const [status, answer] = answerTo(`${request.method} ${request.url}`, body, granted);
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer));
    }),
  );
  return {
    url,
    grant: () => {
      granted = true;
    },
  };
}

function answerTo(request: string, body: string, granted: boolean): readonly [number, unknown] {
  if (request.startsWith("GET")) return [200, { items: [], nextCursor: null }];
  if (request.endsWith("/posts") && !granted)
    return [403, { error: { code: "AGENT_SCOPE_MISSING" } }];
  return body === "{}" ? [400, { error: { code: "EMPTY" } }] : [201, { id: "p_9" }];
}

/** Once the client listens: resolves with the notification that its tools have changed, if the server has announced any. */
async function changes(client: Client): Promise<{ readonly told: Promise<void> }> {
  const told = Promise.withResolvers<void>();
  client.setNotificationHandler("notifications/tools/list_changed", () => told.resolve());
  // Over HTTP of 2025 there is no stream: its client lists again when it likes.
  if (client.getServerCapabilities()?.tools?.listChanged !== true) told.resolve();
  if (client.getProtocolEra() === "modern") await client.listen({ toolsListChanged: true });
  return { told: told.promise };
}
