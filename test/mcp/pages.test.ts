import { describe, expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { image } from "../platform/support/images.ts";
import { act } from "../platform/support/platform.ts";
import { accessTo, type Connecting, overHttp } from "./connect.ts";

interface PageOf<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

async function tools() {
  const { platform } = await world();
  return { platform, call: await connected(accessTo(platform)) };
}

async function connected(access: Connecting) {
  const client = await overHttp({ ...access, scopes: "read,dm,posts:write" });
  return async (name: string, args: Record<string, unknown> = {}) => {
    const { content, structuredContent } = await client.callTool({ name, arguments: args });
    const [first] = content;
    return { content, structuredContent, text: first?.type === "text" ? first.text : "" };
  };
}

interface Post {
  readonly id: string;
  readonly text: string;
}

/**
 * Connects to a platform whose feed has three posts of 50,000 characters. `given` selects which posts a response
 * contains.
 */
async function longFeed(
  given: (asked: { limit: number; posts: readonly Post[] }) => readonly Post[],
): ReturnType<typeof connected> {
  const posts = ["1", "2", "3"].map((id) => ({ id, text: "z".repeat(50_000) }));
  const fetch = async (url: string) => {
    const limit = Number(new URL(url).searchParams.get("limit") ?? 3);
    return Response.json({ items: given({ limit, posts }), nextCursor: null });
  };
  return await connected({ url: "http://platform.test", apiKey: "sbk_any", fetch });
}

describe("a page that would be too long", () => {
  test("is shorter, says so, and goes on by its cursor until everything was there once", async () => {
    const { platform, call } = await tools();
    const sent = Array.from({ length: 24 }, (_, n) => `${n} ${"x".repeat(3_900)}`);
    for (const text of sent) act(platform, "dm.message", { text });
    const texts: string[] = [];
    let cursor: string | null | undefined;
    let first = "";
    while (cursor !== null) {
      const { structuredContent, text } = await call("service_list_messages", {
        conversationId: "c_2",
        limit: 50,
        ...(cursor === undefined ? {} : { cursor }),
      });
      first ||= text;
      const page = structuredContent as PageOf<{ text: string }>;
      expect(page.items.length).toBeLessThan(sent.length);
      texts.push(...page.items.map((message) => message.text));
      cursor = page.nextCursor;
    }
    expect(texts.slice(0, 24)).toEqual(sent.toReversed());
    expect(first).toMatch(/^\d+ messages of 25 \(together they are too long\)\.\n/);
    expect(first).toMatch(/For more items, call again with cursor \S+\.$/);
  });

  test("has one item at least, and that is whole", async () => {
    const call = await longFeed(({ limit, posts }) => posts.slice(0, limit));
    const { structuredContent } = await call("service_get_feed");
    const { items } = structuredContent as PageOf<{ text: string }>;
    expect(items.map(({ text }) => text.length)).toEqual([50_000]);
  });

  test("is left as it is where the platform takes no notice of the limit", async () => {
    const call = await longFeed(({ posts }) => posts);
    const { structuredContent, text } = await call("service_get_feed");
    expect((structuredContent as PageOf<unknown>).items).toHaveLength(3);
    expect(text).toContain("shorter one");
  });

  test("of the event log goes on behind the last event that is there", async () => {
    const { platform, call } = await tools();
    const ids = Array.from({ length: 12 }, (_, n) => {
      const { events } = act(
        platform,
        "poll.closed" as never,
        {
          payload: { n, text: "x".repeat(7_000) },
        } as never,
      );
      return events[0]?.id;
    });
    const found: string[] = [];
    let since: string | undefined;
    for (;;) {
      const { structuredContent } = await call("service_get_events", {
        limit: 50,
        ...(since === undefined ? {} : { since }),
      });
      const page = structuredContent as { events: { id: string }[]; cursor: string };
      if (page.events.length === 0) break;
      expect(page.events.length).toBeLessThan(12);
      found.push(...page.events.map(({ id }) => id));
      since = page.cursor;
    }
    expect(found.slice(-12)).toEqual(ids);
    expect(new Set(found).size).toBe(found.length);
  });
});

describe("previews", () => {
  test("are included on request, and the addresses always", async () => {
    const { call } = await tools();
    const dataBase64 = (await image()).toString("base64");
    const { structuredContent } = await call("service_upload_image", { dataBase64 });
    const { key } = structuredContent as { key: string };
    const made = await call("service_create_post", { text: "look", imageKeys: [key] });
    const { id } = made.structuredContent as { id: string };
    for (const [name, args] of [
      ["service_get_post", { postId: id }],
      ["service_get_feed", { limit: 1 }],
      ["service_search", { query: "look" }],
    ] as const) {
      const plain = await call(name, args);
      expect(plain.content.map(({ type }) => type)).toEqual(["text"]);
      expect(JSON.stringify(plain.structuredContent)).toContain('"images":[{');
      const { content } = await call(name, { ...args, previews: true });
      expect(content).toMatchObject([
        { type: "text" },
        { type: "image", mimeType: expect.stringMatching(/^image\//) },
      ]);
    }
  });
});
