import { expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { image } from "../platform/support/images.ts";
import { act } from "../platform/support/platform.ts";
import { call as callTool } from "./call.ts";
import { overPipes } from "./connect.ts";
import { allTools, listTools } from "./face.ts";

async function tools() {
  const { platform } = await world();
  const client = await overPipes(platform);
  // After listing the tools, the client validates each result against its schema.
  await client.listTools();
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { result, text } = await callTool(client, name, args);
    return { ...result, text };
  };
  return { platform, call };
}

test("thirteen tools are listed, with schemas and truthful annotations", () => {
  const tools = listTools(allTools);
  expect(tools.map(({ name }) => name)).toMatchInlineSnapshot(`
    [
      "service_get_me",
      "service_get_feed",
      "service_get_post",
      "service_list_comments",
      "service_get_user",
      "service_search",
      "service_list_conversations",
      "service_list_messages",
      "service_get_events",
      "service_create_post",
      "service_create_comment",
      "service_send_message",
      "service_upload_image",
    ]
  `);
  for (const { inputSchema, outputSchema, annotations, title, description } of tools) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: "object" });
    expect([title, description].every(Boolean)).toBe(true);
    expect(annotations).toMatchObject({ destructiveHint: false, openWorldHint: true });
  }
  const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
  expect(writing.map(({ name }) => name).sort()).toEqual([
    "service_create_comment",
    "service_create_post",
    "service_send_message",
    "service_upload_image",
  ]);
  for (const { annotations } of writing) expect(annotations?.idempotentHint).toBe(false);
});

test("service_get_feed", async () => {
  const { call } = await tools();
  await call("service_create_post", { text: "news" });
  const { structuredContent, text } = await call("service_get_feed", { limit: 1 });
  expect(structuredContent).toMatchObject({
    items: [{ text: "news", images: [] }],
    nextCursor: expect.any(String),
  });
  expect(text).toMatch(/^1 post\.\n- p_\d+ · @bot · \S+: "news"\nFor more items, .* cursor /);
});

test("service_get_post", async () => {
  const { call } = await tools();
  const { structuredContent } = await call("service_create_post", { text: "news" });
  const { id } = structuredContent as { id: string };
  const read = await call("service_get_post", { postId: id });
  expect(read.structuredContent).toMatchObject({ id, type: "post", text: "news" });
  expect(read.text).toContain(`- ${id} · @bot`);
});

test("service_create_comment and service_list_comments", async () => {
  const { call } = await tools();
  const made = await call("service_create_comment", { postId: "p_1", text: "nice" });
  expect(made.text).toMatch(/^The comment was written\.\nid: /);
  const { structuredContent, text } = await call("service_list_comments", { postId: "p_1" });
  expect(structuredContent).toMatchObject({ items: [{ text: "nice" }], nextCursor: null });
  expect(text).toContain("No more items.");
});

test("service_get_user", async () => {
  const { call } = await tools();
  const { structuredContent } = await call("service_get_user", { username: "@ada" });
  expect(structuredContent).toMatchObject({ username: "ada", isBot: false });
});

test("service_search", async () => {
  const { call } = await tools();
  await call("service_create_post", { text: "a word about narwhals" });
  const { structuredContent, text } = await call("service_search", { query: "narwhals" });
  expect((structuredContent as { items: unknown[] }).items).toHaveLength(1);
  expect(text).toContain("narwhals");
});

test("service_list_conversations", async () => {
  const { call } = await tools();
  const { structuredContent, text } = await call("service_list_conversations");
  expect(structuredContent).toMatchObject({
    items: [{ id: "c_2", peer: { username: "ada" }, lastMessage: { fromBot: false } }],
  });
  expect(text).toContain("- c_2 · with @ada");
});

test("service_send_message and service_list_messages", async () => {
  const { call } = await tools();
  const sent = await call("service_send_message", { conversationId: "c_2", text: "hello" });
  expect(sent.structuredContent).toMatchObject({ conversationId: "c_2" });
  const { structuredContent, text } = await call("service_list_messages", {
    conversationId: "c_2",
    limit: 1,
  });
  expect(structuredContent).toMatchObject({
    items: [{ fromBot: true, text: "hello" }],
    nextCursor: expect.any(String),
  });
  expect(text).toContain("@bot (this bot) · ");
});

test("service_get_events, from the beginning and on from there", async () => {
  const { platform, call } = await tools();
  const first = await call("service_get_events");
  expect(first.structuredContent).toMatchObject({ events: [{ type: "dm.message" }] });
  const { cursor } = first.structuredContent as { cursor: string };
  expect(first.text).toContain(`since ${cursor}`);
  act(platform, "follow");
  expect((await call("service_get_events", { since: cursor })).structuredContent).toMatchObject({
    events: [{ type: "follow" }],
  });
});

test("service_upload_image by its bytes and by its address; the keys are attached", async () => {
  const { call } = await tools();
  const dataBase64 = (await image()).toString("base64");
  const uploads = [
    await call("service_upload_image", { dataBase64, contentType: "image/png" }),
    await call("service_upload_image", { dataBase64: `data:image/png;base64,${dataBase64}` }),
    await call("service_upload_image", { url: "https://images.example/a.png" }),
  ];
  const imageKeys = uploads.map(
    ({ structuredContent }) => (structuredContent as { key: string }).key,
  );
  for (const name of ["service_create_post", "service_create_comment", "service_send_message"]) {
    const key = imageKeys.splice(0, 1);
    const where = {
      service_create_comment: { postId: "p_1" },
      service_send_message: { conversationId: "c_2" },
    };
    const { isError } = await call(name, {
      imageKeys: key,
      ...where[name as keyof typeof where],
    });
    expect(isError).toBeFalsy();
  }
  const { structuredContent, text } = await call("service_get_feed", { limit: 1 });
  expect(structuredContent).toMatchObject({ items: [{ text: "", images: [{ width: 9 }] }] });
  expect(text).toMatch(/ {2}image http:\/\/\S+ \(\d+ x \d+\)/);
});
