import { describe, expect, test } from "vitest";
import type {
  ControlConversation,
  ControlPost,
  EventTrace,
  MessagesPage,
  Page,
  Platform,
} from "../../faces/platform.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver, statuses } from "../support/receiver.ts";

const read = async <T>(platform: Platform, path: string) =>
  (await request<T>(platform, "GET", `/control/v1${path}`)).body;

describe("conversations", () => {
  test("include those of all users, latest message first", async () => {
    const platform = await runPlatform();
    const { conversationId, messageId } = act(platform, "dm.message", { text: "", images: 2 });
    platform.control.createGroup({ members: ["cleo", "ada", "bot"], text: "all here?" });
    const { items, nextCursor } = await read<Page<ControlConversation>>(platform, "/conversations");
    expect(items).toMatchObject([
      {
        group: true,
        members: [{ username: "bot" }, { username: "ada" }, { username: "cleo" }],
        lastMessage: { authorUsername: "cleo", text: "all here?", images: 0 },
      },
      {
        id: conversationId,
        group: false,
        members: [
          { username: "bot", name: "Bot", isBot: true },
          { username: "ada", name: "Ada", isBot: false },
        ],
        lastMessageAt: expect.stringMatching(/^\d{4}-.*Z$/),
        lastMessage: { id: messageId, authorUsername: "ada", text: "", images: 2 },
      },
      { id: "c_1", members: [{ username: "ada" }, { username: "ben" }] },
    ]);
    expect(nextCursor).toBe(null);
    expect(platform.control.conversations().items).toEqual(items);
  });

  test("come in pages", async () => {
    const platform = await runPlatform();
    act(platform, "dm.message");
    const first = await read<Page<ControlConversation>>(platform, "/conversations?limit=1");
    expect(first.items.map(({ id }) => id)).toEqual(["c_2"]);
    const rest = await read(platform, `/conversations?cursor=${first.nextCursor}`);
    expect(rest).toMatchObject({ items: [{ id: "c_1" }], nextCursor: null });
  });
});

describe("part of a conversation", () => {
  test("contains the newest messages, or those before a given message, oldest first", async () => {
    const platform = await runPlatform();
    const { conversationId = "" } = act(platform, "dm.message", { count: 5 });
    const all = platform.control.messages(conversationId).map(({ id }) => id);
    const path = `/conversations/${conversationId}/messages`;
    const page = async (query: string) => {
      const { items, more } = await read<MessagesPage>(platform, `${path}${query}`);
      return { ids: items.map(({ id }) => id), more };
    };
    expect(await page("?limit=2")).toEqual({ ids: all.slice(3), more: true });
    expect(await page(`?limit=2&before=${all[3]}`)).toEqual({ ids: all.slice(1, 3), more: true });
    expect(await page(`?before=${all[3]}`)).toEqual({ ids: all.slice(0, 3), more: false });
    expect(await page(`?before=${all[0]}`)).toEqual({ ids: [], more: false });
    expect(await page("?limit=5")).toEqual({ ids: all, more: false });
    expect(await page("")).toEqual({ ids: all, more: undefined });
  });
});

describe("posts", () => {
  test("show their reactions by kind", async () => {
    const platform = await runPlatform();
    act(platform, "like", { count: 3 });
    act(platform, "repost", { count: 2 });
    act(platform, "comment");
    act(platform, "quote");
    const { items, nextCursor } = await read<Page<ControlPost>>(platform, "/posts");
    expect(nextCursor).toBe(null);
    const none = { likes: 0, reposts: 0, quotes: 0, comments: 0 };
    expect(items).toMatchObject([
      {
        id: "p_2",
        author: { username: "ada" },
        ...none,
        quotedPostId: "p_1",
      },
      { id: "p_1", likes: 3, reposts: 2, quotes: 1, comments: 1, quotedPostId: null },
    ]);
    expect(platform.control.posts().items).toEqual(items);
    expect(await read(platform, "/posts/p_1")).toEqual(items[1]);
    // The trending feed leaves out the bot's post, and the bots' API leaves out the counts.
    const trending = await request<Page<ControlPost>>(
      platform,
      "GET",
      "/api/v1/feed?sort=trending",
    );
    expect(trending.body.items.map(({ id }) => id)).toEqual(["p_2"]);
    expect(trending.body.items[0]).not.toHaveProperty("likes");
  });

  test("come in pages", async () => {
    const platform = await runPlatform();
    act(platform, "post", { count: 2 });
    const first = await read<Page<ControlPost>>(platform, "/posts?limit=2");
    expect(first.items.map(({ id }) => id)).toEqual(["p_3", "p_2"]);
    const rest = await read(platform, `/posts?limit=2&cursor=${first.nextCursor}`);
    expect(rest).toMatchObject({ items: [{ id: "p_1" }], nextCursor: null });
  });
});

describe("an event", () => {
  test("shows its payload and the deliveries that contained it, oldest first", async () => {
    const platform = await runPlatform();
    const receiver = await runReceiver(statuses(500, 200, 200));
    platform.control.saveWebhook({ url: receiver.url });
    const result = act(platform, "dm.message", { text: "hi" });
    const [id = ""] = ids(result);
    await deliveryOf(platform, id);
    platform.control.clock.set({ advanceMs: 30_000 });
    await deliveryOf(platform, id, { attempt: 2 });
    const [other = ""] = ids(act(platform, "follow"));
    await deliveryOf(platform, other);
    const trace = await read<EventTrace>(platform, `/events/${id}`);
    expect(trace).toMatchObject({
      event: result.events[0],
      bot: "bot",
      deliveries: [
        { id: "dlv_1", attempt: 1, status: 500 },
        { id: "dlv_2", attempt: 2, status: 200 },
      ],
    });
    expect(trace.deliveries).toHaveLength(2);
    expect(platform.control.event(id)).toEqual(trace);
    expect(platform.control.event(other).deliveries.map(({ id }) => id)).toEqual(["dlv_3"]);
  });

  test("is shown for any bot, but not before it is in the log", async () => {
    const platform = await runPlatform();
    platform.control.apps.create({ username: "helper" });
    const [id = ""] = ids(act(platform, "follow", { to: "helper" }));
    expect(platform.control.event(id)).toMatchObject({ bot: "helper", deliveries: [] });
    platform.control.setFaults({ events: { mode: "late", lateMs: 1000, times: 1 } });
    const [late = ""] = ids(act(platform, "follow"));
    expect(() => platform.control.event(late)).toThrow(late);
    platform.control.clock.set({ advanceMs: 1000 });
    expect(platform.control.event(late).event.id).toBe(late);
  });
});

test("conversations, including groups, can be filtered by user", async () => {
  const platform = await runPlatform();
  const { control } = platform;
  act(platform, "dm.message", { from: "cleo", text: "first" });
  control.createGroup({ members: ["cleo", "ben"] });
  for (let nth = 0; nth < 60; nth += 1) act(platform, "dm.message", { from: `person${nth}` });
  expect(control.conversations({ of: "cleo", limit: 50 }).items.map(({ group }) => group)).toEqual([
    true,
    false,
  ]);
  expect(control.conversations({ limit: 50 }).items).toHaveLength(50);
  expect(control.conversations({ of: "nobody" })).toEqual({ items: [], nextCursor: null });
  const { body } = await request(platform, "GET", "/control/v1/conversations?of=cleo");
  expect(body).toMatchObject({ items: [{ group: true }, { group: false }], nextCursor: null });
});
