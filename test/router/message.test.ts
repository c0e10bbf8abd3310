import { describe, expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { Router } from "../faces/router.ts";
import { jobFor, run } from "./support.ts";

/** `jobFor` gives its events this time. */
const AT = Date.parse("2026-01-02T03:04:05.678Z");

interface Shown {
  readonly id: string;
  readonly text: string;
  /** Time in ms, relative to the event. */
  readonly at?: number;
  readonly author?: string;
  readonly images?: readonly object[];
}

/** Creates a client for a platform with this conversation, these comments and one post. Records the requests. */
function clientWith(shown: readonly (readonly Shown[])[], status = 200) {
  const paths: string[] = [];
  const client = new Client({
    baseUrl: "http://platform.test",
    apiKey: "key",
    retries: 0,
    fetch: async (url) => {
      const { pathname, searchParams } = new URL(url);
      paths.push(pathname.replace("/api/v1", ""));
      const page = Number(searchParams.get("cursor") ?? 0);
      const items = (shown[page] ?? []).map((item) => view(item));
      const isList = /messages$|comments$/.test(pathname);
      const nextCursor = page + 1 < shown.length ? String(page + 1) : null;
      const body = isList ? { items, nextCursor } : items[0];
      const error = { error: { code: "NOT_FOUND", message: "gone" } };
      return Response.json(status === 200 ? body : error, { status });
    },
  });
  return { client, paths };
}

function view({ id, text, at = 0, author = "ada", images = [] }: Shown): object {
  const createdAt = new Date(AT + at).toISOString();
  return {
    id,
    text,
    createdAt,
    images,
    conversationId: "c_1",
    replyToId: null,
    authorUsername: author,
    author: { username: author },
    fromBot: author === "bot",
  };
}

async function read(
  type: string,
  payload: object,
  { client, paths }: ReturnType<typeof clientWith>,
) {
  const router = new Router();
  const seen: unknown[] = [];
  router.use(async (ctx) => {
    const [text, message] = await Promise.all([ctx.text(), ctx.message()]);
    seen.push({ text, id: message?.id, author: message?.author, images: message?.images });
  });
  await run(router, jobFor(type, { ...payload }), client);
  return { ...(seen[0] as { text: string; id?: string; author?: object }), paths };
}

describe("the text of a message", () => {
  test("is whole where the excerpt was cut, with images and author, in one request", async () => {
    const images = [{ url: "https://images.test/1", width: 1, height: 2 }];
    const platform = clientWith([[{ id: "m_1", text: "hello, how are you?", images }]]);
    const seen = await read("dm.message", { excerpt: "hello, how…" }, platform);
    expect(seen).toMatchObject({ text: "hello, how are you?", id: "m_1", images });
    expect(seen.author).toEqual({ username: "ada", name: "Ada" });
    expect(seen.paths).toEqual(["/dm/conversations/c_1/messages"]);
  });

  test.each<[string, string, readonly Shown[], string | undefined]>([
    [
      "begins with the excerpt, and is neither the bot's own nor of others",
      "hello th...",
      [
        { id: "m_5", text: "hello too", author: "bot" },
        { id: "m_4", text: "hello there", author: "bob" },
        { id: "m_3", text: "something else" },
        { id: "m_2", text: "hello\n there", at: -5 },
      ],
      "m_2",
    ],
    [
      "is the nearest in time of several with one beginning",
      "hello",
      [
        { id: "m_3", text: "hello 3", at: 60_000 },
        { id: "m_2", text: "hello 2", at: -20 },
        { id: "m_1", text: "hello 1", at: -60_000 },
      ],
      "m_2",
    ],
    [
      "is empty for a deleted message, even if an older one begins the same",
      "hello",
      [
        { id: "m_2", text: "", at: -1 },
        { id: "m_1", text: "hello again", at: -3_600_000 },
      ],
      "m_2",
    ],
    ["is empty if there is no message", "hello", [], undefined],
    [
      "is empty for images alone, even if other messages follow",
      "",
      [
        { id: "m_2", text: "next" },
        { id: "m_1", text: "", at: -20 },
      ],
      "m_1",
    ],
    [
      "is none that begins the same, and was written at another time",
      "hello",
      [{ id: "m_1", text: "hello again", at: -60_001 }],
      undefined,
    ],
    [
      "is the nearest of the author's if the platform has rewritten the excerpt",
      "hello",
      [
        { id: "m_2", text: "**hello**", at: -10 },
        { id: "m_1", text: "before", at: -9_000 },
      ],
      "m_2",
    ],
  ])("%s", async (_name, excerpt, messages, id) => {
    const seen = await read("dm.message", { excerpt }, clientWith([messages]));
    const text = messages.find((message) => message.id === id)?.text ?? "";
    expect([seen.id, seen.text]).toEqual([id, text]);
  });

  test("is found further back, on pages that end before the event", async () => {
    const newer = [{ id: "m_9", text: "later", at: 3_600_000 }];
    const older = [{ id: "m_0", text: "much earlier", at: -3_600_000 }];
    const pages = [newer, [{ id: "m_1", text: "hello you" }], older];
    const seen = await read("dm.message", { excerpt: "hello" }, clientWith(pages));
    expect([seen.id, seen.paths.length]).toEqual(["m_1", 3]);
    const missing = await read(
      "dm.message",
      { excerpt: "hello" },
      clientWith([newer, older, older]),
    );
    expect([missing.id, missing.text, missing.paths.length]).toEqual([undefined, "", 2]);
  });

  test("is the one that is all of the excerpt, before one that only begins with it", async () => {
    for (const at of [0, 1_000]) {
      const messages = [
        { id: "m_2", text: "/note b" },
        { id: "m_1", text: "/note", at: -at },
      ];
      for (const pages of [[messages], messages.map((message) => [message])]) {
        const first = await read("dm.message", { excerpt: "/note" }, clientWith(pages));
        const second = await read("dm.message", { excerpt: "/note b" }, clientWith(pages));
        expect([first.id, second.id]).toEqual(["m_1", "m_2"]);
      }
    }
  });
});

describe("the text of an activity", () => {
  const place = { entityType: "post", entityId: "p_1", postId: "p_1", commentId: undefined };

  test("is the text of the post", async () => {
    const seen = await read(
      "mention",
      place,
      clientWith([[{ id: "p_1", text: "the whole post" }]]),
    );
    expect([seen.text, seen.paths]).toEqual(["the whole post", ["/posts/p_1"]]);
  });

  test("of a quote is the quoting post", async () => {
    const seen = await read(
      "quote",
      { ...place, entityId: "p_2" },
      clientWith([[{ id: "p_2", text: "x" }]]),
    );
    expect(seen.paths).toEqual(["/posts/p_2"]);
  });

  test("is the text of the comment, by its id", async () => {
    const comments = [
      { id: "k_0", text: "hey @bot, first" },
      { id: "k_1", text: "hey @bot, second", at: -9_000 },
    ];
    const seen = await read("mention", { commentId: "k_1" }, clientWith([comments]));
    expect([seen.text, seen.paths]).toEqual(["hey @bot, second", ["/posts/p_1/comments"]]);
  });

  test("of a reply that names the comment above is the one of its author", async () => {
    const comments = [
      { id: "k_1", text: "the bot's own", author: "bot" },
      { id: "k_2", text: "a reply" },
      { id: "k_3", text: "an older one", at: -9_000 },
    ];
    const place = { entityType: "comment", entityId: "k_1", postId: "p_1" };
    const seen = await read("reply", place, clientWith([comments]));
    expect(seen.id).toBe("k_2");
  });

  test("that is gone is empty", async () => {
    const seen = await read("mention", place, clientWith([], 404));
    expect([seen.text, seen.id]).toEqual(["", undefined]);
  });

  test("without a place is refused", async () => {
    const platform = clientWith([]);
    await expect(read("follow", {}, platform)).rejects.toMatchObject({ code: "REPLY_IMPOSSIBLE" });
    expect(platform.paths).toEqual([]);
  });
});
