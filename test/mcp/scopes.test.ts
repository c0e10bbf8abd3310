import { expect, test } from "vitest";
import { json } from "../client/api.ts";
import { world } from "../client/platform.ts";
import { type Fetch, probeScopes, type ScopeAnswer } from "../faces/client.ts";
import { allScopes, type Scope } from "../faces/core.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { principalWith } from "./call.ts";
import { accessTo, overPipes } from "./connect.ts";
import { everyTool } from "./every-tool.ts";
import { Access, allTools, callTool } from "./face.ts";
import { serve } from "./stub.ts";

const subsets: readonly (readonly Scope[])[] = Array.from({ length: 15 }, (_, n) =>
  allScopes.filter((_scope, bit) => ((n + 1) & (1 << bit)) !== 0),
);

/** The scopes that each tool accepts, in the order of the tool list. Any one of them is enough. */
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

function toolsFor(scopes: readonly Scope[]): string[] {
  return Object.entries(needs)
    .filter(([, oneOf]) => oneOf.some((scope) => scopes.includes(scope)))
    .map(([name]) => name);
}

function answersFor(scopes: readonly Scope[], otherwise: ScopeAnswer = "no") {
  const answer = (scope: Scope): ScopeAnswer => (scopes.includes(scope) ? "yes" : otherwise);
  return {
    read: answer("read"),
    "posts:write": answer("posts:write"),
    "comments:write": answer("comments:write"),
    dm: answer("dm"),
  };
}

async function usable(access: Access, answers = answersFor([])): Promise<string[]> {
  return (await access.usable(allTools, async () => answers)).map(({ name }) => name);
}

/** Calls tools with a token whose scopes have already been probed. @returns the error code of a failed call */
function callsWith(
  access: Access,
  baseUrl: string,
  apiKey: string,
  fetch: Fetch = globalThis.fetch,
) {
  const principal = principalWith({ baseUrl, apiKey, fetch, retries: 0 }, access);
  const { signal } = new AbortController();
  return async (name: string) => {
    const tool = allTools.find((one) => one.name === name);
    const args = everyTool.find(([one]) => one === name)?.[1] ?? {};
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    const { _meta } = await callTool(tool, args, principal, signal);
    return (_meta?.["service-bot/error"] as { code: string } | undefined)?.code;
  };
}

test("every tool needs one of its scopes", () => {
  expect(Object.fromEntries(allTools.map(({ name, scopes }) => [name, scopes]))).toEqual(needs);
});

test.each(subsets.map((scopes) => ({ scopes })))(
  "a token with $scopes has the tools of these scopes, probed or given",
  async ({ scopes }) => {
    expect(await usable(new Access(), answersFor(scopes))).toEqual(toolsFor(scopes));
    expect(await usable(new Access({ scopes }))).toEqual(toolsFor(scopes));
  },
);

test("a platform that cannot answer leaves every tool on the list", async () => {
  expect(await usable(new Access(), answersFor([], "unknown"))).toEqual(toolsFor(allScopes));
});

test("a probe finds the scopes of every token, and changes nothing", async () => {
  const { platform } = await world();
  const contents = () => JSON.stringify([platform.control.posts(), platform.control.events()]);
  const before = contents();
  for (const scopes of subsets) {
    const apiKey = tokenWith(platform, ...scopes);
    expect(await probeScopes({ baseUrl: platform.url, apiKey, fetch: platform.fetch })).toEqual(
      answersFor(scopes),
    );
  }
  expect(contents()).toBe(before);
});

test("a refusal for want of a scope takes the tools of this scope off the list", async () => {
  const { platform } = await world();
  const access = new Access();
  expect(await usable(access, answersFor(allScopes))).toHaveLength(13);
  const call = callsWith(access, platform.url, tokenWith(platform, "read", "dm"), platform.fetch);
  expect(await call("service_create_post")).toBe("AGENT_SCOPE_MISSING");
  expect(await usable(access)).toEqual(toolsFor(["read", "comments:write", "dm"]));
});

test("a call that succeeds puts the tools of its scope on the list", async () => {
  const access = new Access();
  await usable(access, answersFor(["dm"]));
  const { url } = await serve(json(201, { id: "p_9", username: "bot", url: "/a", key: "k" }));
  const call = callsWith(access, url, "sbk_any");
  expect(await call("service_create_post")).toBeUndefined();
  expect(await usable(access)).toEqual(toolsFor(["posts:write", "dm"]));
  // The success of this call does not prove that the token has a scope.
  expect(await call("service_get_me")).toBeUndefined();
  expect(await usable(access)).toEqual(toolsFor(["posts:write", "dm"]));
});

test("a tool that --scopes leaves out is not carried out, even if the token could", async () => {
  const { platform } = await world();
  const asked: string[] = [];
  platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
  const call = callsWith(
    new Access({ scopes: ["read"] }),
    platform.url,
    platform.apiKey,
    platform.fetch,
  );
  for (const name of ["service_create_post", "service_send_message", "service_upload_image"]) {
    expect(await call(name)).toBe("AGENT_SCOPE_MISSING");
  }
  expect(asked).toEqual([]);
  expect(await call("service_get_me")).toBeUndefined();
});

test("an app that is switched off keeps its tools, and each call names the reason", async () => {
  const { platform } = await world();
  platform.control.apps.set("bot", { disabled: true });
  const probed = await probeScopes({
    ...{ baseUrl: platform.url, apiKey: platform.apiKey, fetch: platform.fetch },
  });
  expect(probed).toEqual(answersFor([], "unknown"));
  const access = new Access();
  expect(
    await callsWith(access, platform.url, platform.apiKey, platform.fetch)("service_create_post"),
  ).toBe("APP_DISABLED");
  expect(await usable(access, probed)).toHaveLength(13);
});

test("an unknown token lists nothing, and the error names the variable to check", async () => {
  const { platform } = await world();
  const client = await overPipes(accessTo(platform, "sbk_unknown"));
  await expect(client.listTools()).rejects.toThrow(/SERVICE_API_KEY/);
});
