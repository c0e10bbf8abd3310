import { describe, expect, test } from "vitest";
import { apiKey, json } from "../client/api.ts";
import { world } from "../client/platform.ts";
import { allScopes } from "../faces/core.ts";
import { image } from "../platform/support/images.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { mulberry32 } from "../support/mulberry32.ts";
import { call, failureIn } from "./call.ts";
import { accessTo, ways } from "./connect.ts";
import { everyScope, everyTool } from "./every-tool.ts";
import { allTools, listTools } from "./face.ts";
import { serve } from "./stub.ts";

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

const png = await image();

/** Lists, calls and failures must be the same over each transport and in each MCP revision. */
describe.each(ways)("over %s", (way, connect) => {
  test("every tool is listed with its schemas, on one page", async () => {
    const { platform } = await world();
    const client = await connect(accessTo(platform));
    const { tools, nextCursor } = await client.listTools();
    expect(tools).toEqual(listTools(allTools));
    expect(nextCursor).toBeUndefined();
    await expect(client.listTools({ cursor: "more" })).rejects.toMatchObject({ code: -32_602 });
  });

  test("a tool reads, writes and fails", async () => {
    const { platform } = await world();
    const client = await connect(accessTo(platform));
    const me = await call(client, "service_get_me");
    expect(me.result.structuredContent).toMatchObject({ username: "bot" });
    const dataBase64 = png.toString("base64");
    const upload = await call(client, "service_upload_image", { dataBase64 });
    const { key } = upload.result.structuredContent as { key: string };
    await call(client, "service_create_post", { imageKeys: [key] });
    const feed = await call(client, "service_get_feed", { limit: 1, previews: true });
    expect(feed.result.content).toMatchObject([{ type: "text" }, { type: "image" }]);
    const failed = failureIn(await call(client, "service_get_post", { postId: "p_99" }));
    expect(failed).toMatchObject({ code: "NOT_FOUND", status: 404, retryable: false });
  });

  test("an unknown tool is a protocol error that lists the known tools", async () => {
    const { url, calls } = await serve(json(200, {}));
    const client = await connect({ url, apiKey, scopes: everyScope });
    const strange = ["service_get_mee", "__proto__", "toString", "", "x".repeat(4_000)];
    for (const name of strange) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining(JSON.stringify(name.slice(0, 100))),
      });
    }
    const error = await client.callTool({ name: "none" }).catch((reason: unknown) => reason);
    for (const [tool] of everyTool) expect(String(error)).toContain(tool);
    expect(calls).toEqual([]);
  });

  test("with --scopes nothing is probed, and only their tools are listed", async () => {
    const { platform } = await world();
    const asked: string[] = [];
    platform.onTimeline((entry) => entry.kind === "api" && asked.push(entry.path));
    const client = await connect({ ...accessTo(platform), scopes: "read" });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toHaveLength(7);
    expect(names).not.toContain("service_create_post");
    // Over HTTP, the server first checks that the platform knows the token.
    expect(asked).toEqual(way.startsWith("HTTP") ? ["/feed"] : []);
  });

  test("a scope that turns out to be missing takes its tools off the next list", async () => {
    const { platform } = await world();
    const token = tokenWith(platform, "read", "dm");
    const client = await connect({
      ...accessTo(platform, token),
      scopes: allScopes.join(","),
    });
    expect((await client.listTools()).tools).toHaveLength(13);
    const refused = failureIn(await call(client, "service_create_post", { text: "hello" }));
    expect(refused.code).toBe("AGENT_SCOPE_MISSING");
    expect((await client.listTools()).tools).toHaveLength(12);
  });

  test(`sixty calls at once have sixty answers, each its own, with SEED=${seed}`, async () => {
    const random = mulberry32(seed);
    const { url, calls } = await serve((response, request) => {
      const username = request.url?.split("/").at(-1);
      setTimeout(() => json(200, { username })(response, request), random() * 20);
    });
    const client = await connect({ url, apiKey, scopes: everyScope });
    const names = Array.from({ length: 60 }, (_, number) => `user${number}`);
    const answers = names.map((username) => call(client, "service_get_user", { username }));
    const values = (await Promise.all(answers)).map(({ result }) => result.structuredContent);
    expect(values).toEqual(names.map((username) => ({ username })));
    expect(calls).toHaveLength(60);
  });
});
