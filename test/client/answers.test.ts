import { describe, expect, test } from "vitest";
import { ServiceBotError } from "../faces/errors.ts";
import { ManualClock } from "../faces/testing.ts";
import { json, rejection, serve } from "./api.ts";

const message = {
  id: "m_1",
  conversationId: "c_1",
  fromBot: false,
  authorUsername: "ada",
  text: "hello",
  createdAt: "2026-01-02T03:04:05.678Z",
  replyToId: null,
  images: [{ url: "https://i.example/1.png", width: 3, height: 4 }],
};
const comment = {
  id: "k_1",
  type: "comment",
  text: "nice",
  images: [{ url: "https://i.example/1.png", thumbUrl: null, width: 3, height: 4 }],
};

async function invalid(promise: Promise<unknown>): Promise<string> {
  const error = await rejection(promise);
  expect(error).toBeInstanceOf(ServiceBotError);
  expect(error).toMatchObject({ code: "API_INVALID_RESPONSE" });
  return (error as Error).message;
}

describe("answers are returned unchanged", () => {
  test("messages", async () => {
    const page = { items: [message], nextCursor: "next" };
    const { client } = await serve(json(200, page));
    expect(await client.dms.messages("c_1")).toEqual(page);
  });

  test("comments, with optional fields for author and time", async () => {
    const more = {
      createdAt: "2026-01-02T03:04:05.678Z",
      author: { username: "ada", name: "Ada" },
    };
    const page = { items: [comment, { ...comment, ...more }], nextCursor: null };
    const { client } = await serve(json(200, page));
    expect(await client.posts.comments("p_1")).toMatchObject(page);
  });

  test("events, not looked into", async () => {
    const events = [{ id: "1" }, null, "broken", 5];
    const { client } = await serve(json(200, { events, cursor: "9" }));
    expect(await client.events({})).toMatchObject({ events, cursor: "9" });
  });

  test("fields that the platform adds pass through everywhere", async () => {
    const added = { mood: "sunny", deep: { list: [1] } };
    const item = { ...message, ...added, images: [{ ...message.images[0], ...added }] };
    const body = {
      ...added,
      items: [item],
      nextCursor: null,
      events: [],
      cursor: "1",
      id: "m_1",
      conversationId: "c_1",
      createdAt: "",
      username: "bot",
    };
    const { client } = await serve(json(200, body));
    expect(await client.me()).toMatchObject(added);
    expect(await client.events({})).toMatchObject(added);
    expect(await client.dms.messages("c_1")).toMatchObject({ ...added, items: [item] });
    expect(await client.dms.send("c_1", { text: "hi" })).toMatchObject(added);
    expect(await client.posts.comments("p_1")).toMatchObject({ ...added, items: [item] });
    expect(await client.posts.comment("p_1", { text: "hi" })).toMatchObject(added);
  });
});

describe("what is not documented is not required", () => {
  test("a message without replyToId and images has neither", async () => {
    const { replyToId: _reply, images: _images, ...rest } = message;
    const { client } = await serve(json(200, { items: [rest], nextCursor: null }));
    const page = await client.dms.messages("c_1");
    expect(page).toEqual({ items: [{ ...rest, replyToId: null, images: [] }], nextCursor: null });
  });

  test("a listing that is a bare array is one page", async () => {
    const { client } = await serve(json(200, [comment]));
    expect(await client.posts.comments("p_1")).toMatchObject({
      items: [comment],
      nextCursor: null,
    });
  });

  test.each([
    ["null", null],
    ["a text", "done"],
    ["a list", []],
    ["an id that is no text", { id: { n: 5 } }],
  ])("the answer to a comment may be %s", async (_name, body) => {
    const { client } = await serve(json(201, body));
    expect((await client.posts.comment("p_1", { text: "hi" })).id).toBeUndefined();
  });

  test("the answer to a comment may be empty", async () => {
    const { client } = await serve((response) => response.writeHead(204).end());
    expect((await client.posts.comment("p_1", { text: "hi" })).id).toBeUndefined();
  });

  test("a profile without a username, or with null, has none", async () => {
    for (const body of [{}, { username: null }]) {
      const { client } = await serve(json(200, body));
      expect((await client.me()).username).toBeUndefined();
    }
  });
});

describe("optional fields are not required", () => {
  const nothing = [null, undefined];

  test.each([...nothing, ""])(
    "a nextCursor that is %j is that of the last page",
    async (nextCursor) => {
      const page = { items: [], nextCursor };
      const { client, calls } = await serve(json(200, page));
      for (const listing of [
        client.dms.messages("c_1"),
        client.dms.conversations(),
        client.feed(),
      ]) {
        expect((await listing).nextCursor).toBeNull();
        for await (const _ of listing) expect.unreachable();
      }
      expect(calls).toHaveLength(6);
    },
  );

  test.each(nothing)("an upload needs its key alone: the rest is %s", async (absent) => {
    const url = "https://images.example/a.png";
    const whole = { key: "k", url, thumbUrl: url, width: 1, height: 2, bytes: 3 };
    for (const field of ["url", "thumbUrl", "width", "height", "bytes"]) {
      const { client } = await serve(json(200, { ...whole, [field]: absent }));
      expect(await client.upload(url)).toMatchObject({ key: "k" });
    }
  });

  test.each(nothing)("of a message, its id and whose it is: the rest is %s", async (absent) => {
    const { id, fromBot } = message;
    const bare = Object.fromEntries(Object.keys(message).map((name) => [name, absent]));
    const { client } = await serve(json(200, { items: [{ ...bare, id, fromBot }] }));
    const [read] = (await client.dms.messages("c_1")).items;
    expect(read).toMatchObject({
      id,
      fromBot,
      text: "",
      createdAt: "",
      replyToId: null,
      images: [],
    });
  });

  test.each(nothing)(
    "of a conversation, its id and who it is with: the rest is %s",
    async (absent) => {
      const peer = { username: "ada", name: absent, avatarUrl: absent, isBot: absent };
      const item = { id: "c_1", peer, lastMessageAt: absent, lastMessage: absent };
      const { client } = await serve(json(200, { items: [item] }));
      expect((await client.dms.conversations()).items).toMatchObject([
        {
          id: "c_1",
          peer: { username: "ada", name: "", avatarUrl: null, isBot: false },
          lastMessage: null,
        },
      ]);
    },
  );

  test.each(nothing)("of what was sent, its id: the rest is %s", async (absent) => {
    const { client } = await serve(
      json(201, { id: "m_1", conversationId: absent, createdAt: absent }),
    );
    const sent = await client.dms.send("c_1", { text: "hi" });
    expect(sent).toMatchObject({ id: "m_1", conversationId: "c_1", createdAt: "" });
  });

  test("the size of an image", async () => {
    const images = [{ url: "https://images.example/a.png", width: null }];
    const { client } = await serve(json(200, { ...comment, images }));
    expect((await client.posts.get("p_1")).images[0]).toMatchObject({ url: images[0]?.url });
  });

  test("ids that are numbers are texts", async () => {
    const item = { ...message, id: 7, conversationId: 8, replyToId: 9 };
    const { client } = await serve(json(200, { items: [item], nextCursor: 10 }));
    expect(await client.dms.messages("8")).toMatchObject({
      items: [{ id: "7", conversationId: "8", replyToId: "9" }],
      nextCursor: "10",
    });
  });

  test("the digits of numbers beyond 2^53", async () => {
    const { client } = await serve((response) => {
      const item = `{"\\u0069d":9007199254740993,"conversationId" : 9007199254740995,"fromBot":false}`;
      response.setHeader("content-type", "application/json");
      response.end(
        `{"items":[${item}],"nextCursor":9007199254740997,"cursor":9007199254740999,"events":[]}`,
      );
    });
    expect(await client.dms.messages("c_1")).toMatchObject({
      items: [{ id: "9007199254740993", conversationId: "9007199254740995" }],
      nextCursor: "9007199254740997",
    });
    expect(await client.events()).toMatchObject({ cursor: "9007199254740999" });
  });
});

describe("what is documented and missing is named by its path", () => {
  test("a field of an item", async () => {
    const { id: _gone, ...broken } = message;
    const { client } = await serve(json(200, { items: [message, broken], nextCursor: null }));
    expect(await invalid(client.dms.messages("c_1"))).toMatch(/items\.1\.id/);
  });

  test.each(["id", "fromBot"] as const)("the %s of a message", async (field) => {
    const { client } = await serve(json(200, { items: [{ ...message, [field]: null }] }));
    expect(await invalid(client.dms.messages("c_1"))).toContain(`items.0.${field}`);
  });

  test("the id of what was sent", async () => {
    const { client } = await serve(json(201, { conversationId: "c_1", createdAt: "" }));
    expect(await invalid(client.dms.send("c_1", { text: "hi" }))).toContain("id");
  });

  test.each(["1e400", "9007199254740993e0", "1.5"])("an id of %s", async (id) => {
    const { client } = await serve((response) => {
      response.setHeader("content-type", "application/json");
      response.end(`{"id":${id}}`);
    });
    expect(await invalid(client.dms.send("c_1", { text: "hi" }))).toContain("id");
  });

  test("the cursor of the log", async () => {
    const { client } = await serve(json(200, { events: [] }));
    expect(await invalid(client.events({}))).toMatch(/GET \/events.*cursor/);
  });

  test("the list of events", async () => {
    const { client } = await serve(json(200, { cursor: "1" }));
    expect(await invalid(client.events({}))).toMatch(/events/);
  });

  test("and no value of the answer is in the message", async () => {
    const items = [{ ...message, id: ["PRIVATE"], text: { PRIVATE: "PRIVATE" } }];
    const { client } = await serve(json(200, { items, nextCursor: {} }));
    expect(await invalid(client.dms.messages("c_1"))).not.toContain("PRIVATE");
  });
});

describe("the platform's clock", () => {
  const date = "Thu, 01 Jan 2026 00:01:00 GMT";

  test("is read from the Date header of every answer, good or bad", async () => {
    const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
    for (const status of [200, 500]) {
      const { client } = await serve(json(status, {}, { date }), { clock });
      expect(client.clockOffsetMs).toBe(0);
      expect(client.platformNow()).toBeUndefined();
      await client.me().catch(() => undefined);
      expect(client.clockOffsetMs).toBe(60_000);
      expect(client.platformNow()).toBe(clock.now() + 60_000);
    }
  });

  test("may be behind ours", async () => {
    const clock = new ManualClock(Date.parse("2026-01-01T00:02:00Z"));
    const { client } = await serve(json(200, {}, { date }), { clock });
    await client.me();
    expect(client.clockOffsetMs).toBe(-60_000);
  });

  test("comes with a page of the log", async () => {
    const { client } = await serve(json(200, { events: [], cursor: "1" }, { date }));
    expect((await client.events({})).date).toBe(Date.parse(date));
  });

  test("is as it was when an answer has no date, or none that can be read", async () => {
    const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
    const dates = [date, undefined, "yesterday"];
    const { client } = await serve(
      (response) => {
        const value = dates.shift();
        response.sendDate = false;
        if (value !== undefined) response.setHeader("date", value);
        response.end(JSON.stringify({ events: [], cursor: "1" }));
      },
      { clock },
    );
    expect((await client.events({})).date).toBe(Date.parse(date));
    expect((await client.events({})).date).toBeUndefined();
    expect((await client.events({})).date).toBeUndefined();
    expect(client.clockOffsetMs).toBe(60_000);
  });
});

describe("a field that is not documented", () => {
  test("is accepted with any value", async () => {
    const odd = { id: 5, username: "bot", name: 7, isBot: "yes", avatarUrl: 1, extra: [1] };
    expect(await (await serve(json(200, odd))).client.me()).toEqual({
      id: "5",
      username: "bot",
      extra: [1],
    });
    const post = { id: "p_1", type: "post", text: "hi", images: [], author: "ada", createdAt: 5 };
    const { client } = await serve(json(200, { items: [post], nextCursor: null }));
    expect((await client.feed()).items).toMatchObject([{ id: "p_1", text: "hi" }]);
    expect((await client.search({ text: "hi" })).items).toHaveLength(1);
  });

  test("does not remove other fields of an answer", async () => {
    const { client } = await serve(json(201, { id: 7, text: "x" }));
    expect(await client.posts.create({ text: "x" })).toEqual({ id: "7", text: "x" });
  });
});
