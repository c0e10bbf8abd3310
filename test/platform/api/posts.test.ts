import { expect, test } from "vitest";
import { act, request, runPlatform } from "../support/platform.ts";

const bot = { username: "bot", name: "Bot", isBot: true };

test("GET /me shows the bot", async () => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "GET", "/api/v1/me");
  expect(status).toBe(200);
  expect(body).toEqual({ id: "u_1", ...bot, avatarUrl: null });
});

test("a new post gets 201 and can be read", async () => {
  const platform = await runPlatform();
  const made = await request<{ id: string }>(platform, "POST", "/api/v1/posts", {
    body: { text: "news" },
  });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: "p_2",
    type: "post",
    text: "news",
    images: [],
    author: bot,
    createdAt: expect.stringMatching(/Z$/),
  });
  const read = await request(platform, "GET", `/api/v1/posts/${made.body.id}`);
  expect(read.status).toBe(200);
  expect(read.body).toEqual(made.body);
});

test("a new comment gets 201 and names its post", async () => {
  const platform = await runPlatform();
  const { status, body } = await request(platform, "POST", "/api/v1/posts/p_1/comments", {
    body: { text: "thanks" },
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: "cm_1",
    type: "comment",
    text: "thanks",
    images: [],
    author: bot,
    createdAt: expect.stringMatching(/Z$/),
    postId: "p_1",
  });
});

test("comments are newest first and paged by cursor", async () => {
  const platform = await runPlatform();
  act(platform, "comment", { count: 3 });
  interface Page {
    items: { id: string; author: unknown }[];
    nextCursor: string | null;
  }
  const path = "/api/v1/posts/p_1/comments?limit=2";
  const first = await request<Page>(platform, "GET", path);
  expect(first.body.items.map(({ id }) => id)).toEqual(["cm_3", "cm_2"]);
  expect(first.body.items[0]?.author).toEqual({ username: "ada", name: "Ada", isBot: false });
  const rest = await request<Page>(platform, "GET", `${path}&cursor=${first.body.nextCursor}`);
  expect(rest.body.items.map(({ id }) => id)).toEqual(["cm_1"]);
  expect(rest.body.nextCursor).toBeNull();
});

test("a post lists only its own comments", async () => {
  const platform = await runPlatform();
  const { postId } = act(platform, "mention");
  act(platform, "mention", { postId: postId ?? "" });
  const { body } = await request(platform, "GET", "/api/v1/posts/p_1/comments");
  expect(body).toEqual({ items: [], nextCursor: null });
});

test.each([
  ["GET", "/posts/p_9"],
  ["GET", "/posts/1"],
  ["GET", "/posts/p_01"],
  ["GET", "/posts/p_9/comments"],
  ["POST", "/posts/p_9/comments"],
])("%s %s: there is no such post", async (method, path) => {
  const platform = await runPlatform();
  const body = method === "POST" ? { text: "hi" } : undefined;
  const answer = await request(platform, method, `/api/v1${path}`, { body });
  expect(answer.status).toBe(404);
  expect(answer.body.error.code).toBe("NOT_FOUND");
});

test.each(["/posts", "/posts/p_1/comments"])("POST %s needs text or images", async (path) => {
  const platform = await runPlatform();
  const code = async (body: unknown) =>
    (await request(platform, "POST", `/api/v1${path}`, { body })).body.error.code;
  expect(await code({})).toBe("EMPTY");
  expect(await code({ text: "x".repeat(4001) })).toBe("TOO_LONG");
  expect(platform.control.comments("p_1")).toEqual([]);
});

test("the feed has all posts, newest first, in pages", async () => {
  const platform = await runPlatform();
  await request(platform, "POST", "/api/v1/posts", { body: { text: "news" } });
  type Page = { items: { id: string }[]; nextCursor: string | null };
  const first = await request<Page>(platform, "GET", "/api/v1/feed?limit=1");
  expect(first.body).toMatchObject({ items: [{ id: "p_2", text: "news" }], nextCursor: "p_2" });
  const rest = await request<Page>(platform, "GET", "/api/v1/feed?limit=1&cursor=p_2");
  expect(rest.body).toMatchObject({ items: [{ id: "p_1" }], nextCursor: null });
});

test.each(["sort=newest", "sort=", "sort=trending&cursor=p_1", "sort=trending&cursor=1.x"])(
  "the feed with %s gets 400 VALIDATION",
  async (query) => {
    const platform = await runPlatform();
    const { status, body } = await request(platform, "GET", `/api/v1/feed?${query}`);
    expect(status).toBe(400);
    expect(body.error.code).toBe("VALIDATION");
  },
);

test("posts by bots are in the recent feed, but not in the trending feed", async () => {
  const platform = await runPlatform();
  const feed = (sort: string) => request(platform, "GET", `/api/v1/feed${sort}`);
  expect((await feed("?sort=trending")).body).toEqual({ items: [], nextCursor: null });
  for (const sort of ["", "?sort=recent"]) {
    expect((await feed(sort)).body).toMatchObject({ items: [{ id: "p_1", author: bot }] });
  }
});
