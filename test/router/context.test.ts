import { describe, expect, expectTypeOf, test } from "vitest";
import { payloads } from "../events/samples.ts";
import type { Client, Fetch, Message, Sent } from "../faces/client.ts";
import { systemClock } from "../faces/core.ts";
import { type AnyEvent, eventTypes } from "../faces/events.ts";
import { type Context, type Handler, Router, type WriteResult } from "../faces/router.ts";
import { requestPlace } from "../faces/steps.ts";
import { contextFor, fakeClient, fakePlatform, jobFor, run } from "./support.ts";

function scene(type: string) {
  const { client, platform } = fakeClient();
  const job = jobFor(type);
  return { client, platform, job, ctx: contextFor(job, client) };
}

describe("the context has the type of the event", () => {
  test("where the type is not known beforehand, it is any event", () => {
    expectTypeOf<Context["event"]>().toEqualTypeOf<AnyEvent>();
    expectTypeOf<Context<"whisper">["event"]>().toEqualTypeOf<AnyEvent>();
    expectTypeOf<Parameters<Handler>[0]>().toEqualTypeOf<Context>();
    expectTypeOf<Context["client"]>().toEqualTypeOf<Client>();
    expectTypeOf<ReturnType<Context["reply"]>>().toEqualTypeOf<Promise<WriteResult<Sent>>>();
    expectTypeOf<ReturnType<Context["messages"]>>().toEqualTypeOf<Promise<readonly Message[]>>();
  });

  test("a step gives what its function gives", async () => {
    const { ctx } = scene("follow");
    const size = ctx.step("size", () => 5);
    expectTypeOf(size).toEqualTypeOf<Promise<number>>();
    const name = ctx.step("name", async () => "ada");
    expectTypeOf(name).toEqualTypeOf<Promise<string>>();
    expect([await size, await name]).toEqual([5, "ada"]);
  });
});

test("the context carries what the dispatcher knows of the run", () => {
  const { client } = fakeClient();
  const { signal } = new AbortController();
  const job = jobFor("follow", {}, { signal }, { attempt: 3, source: "poll", late: true });
  const ctx = contextFor(job, client);
  expect(ctx).toMatchObject({ attempt: 3, source: "poll", late: true });
  expect(ctx.event).toBe(job.event);
  expect(ctx.payload).toBe(job.event.payload);
  expect(ctx.log).toBe(job.log);
  expect(ctx.signal).toBe(signal);
  expect(ctx.client).toBe(client);
});

test("a run that asks for none gets neither a signal, steps, effects nor a log, because they are dear", async () => {
  const { client } = fakeClient();
  const asked: string[] = [];
  const job = new Proxy(jobFor("follow"), {
    get(target, name, receiver) {
      if (["signal", "steps", "effects", "log"].includes(String(name))) asked.push(String(name));
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  const router = new Router();
  router.on("follow", () => undefined);
  await run(router, job, client);
  expect(asked).toEqual([]);
  router.on("follow", (ctx) => ctx.step("one", () => ctx.signal.aborted));
  await run(router, job, client);
  expect(asked).toEqual(["steps", "signal"]);
});

describe("reply goes where the event came from", () => {
  async function replyTo(type: string, more: Readonly<Record<string, unknown>> = {}) {
    const { client, platform } = fakeClient();
    await contextFor(jobFor(type, more), client).reply("hello back");
    return platform.sent;
  }
  const text = "hello back";

  test("a message: as a direct message into its conversation", async () => {
    expect(await replyTo("dm.message")).toEqual([{ kind: "dm", conversationId: "c_1", text }]);
  });

  test.each(eventTypes.filter((type) => type !== "dm.message" && type !== "follow"))(
    "a %s: as a comment on the post it is about",
    async (type) => {
      const about = { postId: "p_7", entityType: "comment", entityId: "k_7" };
      expect(await replyTo(type, about)).toEqual([{ kind: "comment", postId: "p_7", text }]);
    },
  );

  test.each(["like", "repost", "quote", "reply", "mention", "comment"])(
    "a %s that names its post as the entity alone: on that post",
    async (type) => {
      for (const postId of [undefined, null, ""]) {
        const about = { postId, entityType: "post", entityId: "p_8" };
        expect(await replyTo(type, about)).toEqual([{ kind: "comment", postId: "p_8", text }]);
      }
    },
  );

  test.each([
    ["a conversation", { conversationId: "c_2" }, { kind: "dm", conversationId: "c_2", text }],
    ["a post", { postId: "p_2" }, { kind: "comment", postId: "p_2", text }],
    ["a conversation by number", { conversationId: 5 }, { kind: "dm", conversationId: "5", text }],
    ["a post by number", { postId: 5 }, { kind: "comment", postId: "5", text }],
    [
      "an empty conversation and a post",
      { conversationId: "", postId: "p_2" },
      { kind: "comment", postId: "p_2", text },
    ],
  ])("a type that is newer than this version, with %s: there", async (_name, payload, sent) => {
    expect(await replyTo("whisper", payload)).toEqual([sent]);
  });

  test.each<[string, string, object]>([
    ["a follow", "follow", {}],
    ["a like of something that is not a post", "like", { entityType: "comment" }],
    ["a newer type without an address", "whisper", { mood: "sunny" }],
    ["a newer type with addresses of another kind", "whisper", { conversationId: {}, postId: 0.5 }],
    ["a newer type with empty addresses", "whisper", { conversationId: "", postId: "" }],
  ])("%s: nowhere, and nothing is sent", async (_name, type, more) => {
    const { client, platform } = fakeClient();
    const job = jobFor(type, { ...more });
    const reply = contextFor(job, client).reply("hello");
    await expect(reply).rejects.toMatchObject({
      code: "REPLY_IMPOSSIBLE",
      message: expect.stringContaining("ctx.client"),
    });
    expect(platform.sent).toEqual([]);
    expect(job.steps.ran).toEqual([]);
  });
});

describe("a reply is a step", () => {
  test("two replies are two steps, in the order of the calls, also with one text", async () => {
    const { client, platform, job, ctx } = scene("dm.message");
    await Promise.all([ctx.reply("same"), ctx.reply("same")]);
    await ctx.reply({ text: "other" });
    const names = job.steps.ran.map(({ name }) => name);
    expect(new Set(names).size).toBe(3);
    expect(platform.sent).toHaveLength(3);
    // The next run of the handler must generate the same names.
    const again = jobFor("dm.message");
    const retried = contextFor(again, client);
    await retried.reply("same");
    await retried.reply("same");
    await retried.reply({ text: "other" });
    expect(again.steps.ran.map(({ name }) => name)).toEqual(names);
  });

  test("its request is what is about to be sent", async () => {
    const { client, job, ctx } = scene("dm.message");
    await ctx.reply("plain");
    const upload = async () => (await client.upload({ url: "https://example.com/a.png" })).key;
    const [one, two, three] = [await upload(), await upload(), await upload()];
    await ctx.reply({ text: "with a picture", imageKeys: [one] });
    await ctx.reply({ images: [{ key: two }], imageKeys: [three] });
    const conversationId = "c_1";
    expect(
      job.steps.ran.map(({ search }) => JSON.parse(search?.request() ?? "") as unknown),
    ).toMatchObject([
      { conversationId, text: "plain", imageCount: 0 },
      { conversationId, text: "with a picture", imageCount: 1 },
      { conversationId, imageCount: 2 },
    ]);
  });

  test("its request has the platform's time of each try, which is requested if unknown", async () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const platform = fakePlatform(() => now);
    const asked: string[] = [];
    const clock = { ...systemClock, now: () => now - 60_000 };
    const { client } = fakeClient({
      clock,
      fetch: async (url, init) => {
        asked.push(new URL(url).pathname);
        const response = await platform.fetch(url, init);
        response.headers.set("date", new Date(now).toUTCString());
        return response;
      },
    });
    const job = jobFor("dm.message");
    await contextFor(job, client).reply("hello");
    const [step] = job.steps.ran;
    expect(JSON.parse(step?.search?.request() ?? "")).toMatchObject({ text: "hello", at: now });
    now += 5_000;
    expect(JSON.parse(step?.search?.request() ?? "")).toMatchObject({ text: "hello", at: now });
    await contextFor(jobFor("dm.message"), client).reply("again");
    expect(asked.filter((path) => path.endsWith("/me"))).toHaveLength(1);
  });

  test("a platform that does not send the time gets one request for it, and still an answer", async () => {
    const platform = fakePlatform(Date.now);
    const asked: string[] = [];
    const fetch: Fetch = async (url, init) => {
      asked.push(new URL(url).pathname);
      const response = await platform.fetch(url, init);
      response.headers.delete("date");
      return response;
    };
    const { client } = fakeClient({ fetch });
    for (const text of ["one", "two"]) await contextFor(jobFor("dm.message"), client).reply(text);
    expect(asked.filter((path) => path.endsWith("/me"))).toHaveLength(1);
    expect(platform.sent).toHaveLength(2);
  });

  test("it hands out what the platform answered, and its id as the reference", async () => {
    const { job, ctx } = scene("dm.message");
    const sent = await ctx.reply("hello");
    expect(sent).toMatchObject({ id: expect.stringMatching(/^m_/), conversationId: "c_1" });
    const [step] = job.steps.ran;
    const { result, ref } = (await step?.run()) ?? {};
    expect(ref).toContain((result as { id: string }).id);
  });

  test("it is not to be repeated blindly, can be looked for, and settles after the client's deadline", async () => {
    const { client, job, ctx } = scene("dm.message");
    await ctx.reply("hello");
    const [step] = job.steps.ran;
    expect(step?.repeatable).toBe(false);
    expect(step?.search?.find).toBeTypeOf("function");
    expect(step?.search?.inFlightMs).toBeGreaterThan(client.longestCallMs);
    const { inFlightMs } = JSON.parse(step?.search?.request() ?? "");
    expect(inFlightMs).toBe(step?.search?.inFlightMs);
  });

  test("with images it settles after their uploads, both of which may be made twice", async () => {
    const { client, job, ctx } = scene("dm.message");
    const { key } = await client.upload({ url: "https://example.com/a.png" });
    await ctx.reply({ images: [{ key }] });
    expect(job.steps.ran[0]?.search?.inFlightMs).toBeGreaterThan(4 * client.longestCallMs);
  });

  test("with a budget of requests it settles only after the wait for a place and the deadline", async () => {
    const { client } = fakeClient({ maxRequestsPerMinute: 10 });
    const job = jobFor("dm.message");
    await contextFor(job, client).reply("hello");
    expect(job.steps.ran[0]?.search?.inFlightMs).toBeGreaterThan(
      fakeClient().client.longestCallMs + 5_000,
    );
  });

  test("the references of a message and of a comment with one id differ", async () => {
    const refs = await Promise.all(
      ["dm.message", "mention"].map(async (type) => {
        const answer = { id: "same_id", conversationId: "c_1", createdAt: "" };
        const { client } = fakeClient({ fetch: async () => Response.json(answer) });
        const job = jobFor(type);
        await contextFor(job, client).reply("hello");
        return (await job.steps.ran[0]?.run())?.ref;
      }),
    );
    expect(refs).toEqual([expect.stringContaining("same_id"), expect.stringContaining("same_id")]);
    expect(refs[0]).not.toBe(refs[1]);
  });

  test("it carries the signal of the run", async () => {
    const reason = new Error("the lease was lost");
    const platform = fakePlatform(Date.now);
    const signals: unknown[] = [];
    const fetch: Fetch = (url, init) => {
      if (init.method === "POST") signals.push(init.signal?.aborted);
      return platform.fetch(url, init);
    };
    const { client } = fakeClient({ fetch });
    const job = jobFor("dm.message", {}, { signal: AbortSignal.abort(reason) });
    await expect(contextFor(job, client).reply("hello")).rejects.toBe(reason);
    await contextFor(jobFor("dm.message"), client).reply("hello");
    expect(signals).toEqual([false]);
  });
});

describe("comment, post and upload are steps", () => {
  test("each kind has its own numbers, and records its request", async () => {
    const { platform, job, ctx } = scene("follow");
    const { key } = await ctx.upload({ url: "https://example.com/a.png" });
    await ctx.post({ text: "news", imageKeys: [key] });
    await ctx.comment("p_1", "one");
    await ctx.comment("p_2", "one");
    expect(platform.sent).toEqual([
      { kind: "post", text: "news", imageKeys: [key] },
      { kind: "comment", postId: "p_1", text: "one" },
      { kind: "comment", postId: "p_2", text: "one" },
    ]);
    expect(job.steps.ran.map(({ name }) => name)).toEqual([
      "upload/1",
      "post/1",
      "comment/1",
      "comment/2",
    ]);
  });

  test("an upload is repeated rather than looked for, and its result is good for less than an hour", async () => {
    const { job, ctx } = scene("follow");
    await ctx.upload({ url: "https://example.com/a.png" });
    const [step] = job.steps.ran;
    expect(step).toMatchObject({ repeatable: true });
    expect(step?.search).toBeUndefined();
    expect(step?.validForMs).toBeLessThan(3_600_000);
  });

  test("one at a time is looked for or sent in a conversation or on a post", async () => {
    const { job, ctx } = scene("dm.message");
    await ctx.reply("hello");
    await ctx.comment("p_1", "hello");
    await ctx.post("hello");
    expect(job.steps.ran.map(({ search }) => requestPlace(search?.request() ?? ""))).toEqual([
      "dm:c_1",
      "post:p_1",
      undefined,
    ]);
  });

  test("a comment is looked for on the post that the run before this one meant", async () => {
    const { client } = fakeClient();
    const { id } = await client.posts.comment("p_1", { text: "hello" });
    const job = jobFor("follow");
    await contextFor(job, client).comment("p_2", "hello");
    const found = await job.steps.ran[0]?.search?.find({
      request: JSON.stringify({ text: "hello", imageCount: 0, postId: "p_1" }),
      startedAt: Date.parse("2026-01-01T00:00:00Z"),
      ageMs: 0,
    });
    expect(found).toMatchObject({ same: [{ ref: `comment:${id}` }] });
  });
});

describe("step", () => {
  test("runs through the step runner, under a name of its own kind", async () => {
    const { job, ctx } = scene("dm.message");
    expect(await ctx.step("reply/1", () => ({ a: 1 }))).toEqual({ a: 1 });
    await ctx.reply("hello");
    const [own, reply] = job.steps.ran;
    expect(own?.name).not.toBe(reply?.name);
  });

  test("is not repeatable and cannot be looked for, unless it says so", async () => {
    const { job, ctx } = scene("follow");
    await ctx.step("once", () => undefined);
    await ctx.step("again", () => undefined, { repeatable: true });
    expect(job.steps.ran.map(({ repeatable }) => repeatable)).toEqual([false, true]);
    expect(job.steps.ran.map(({ search }) => search)).toEqual([undefined, undefined]);
  });

  test("what its function throws comes out", async () => {
    const { ctx } = scene("follow");
    const error = new Error("cannot");
    const fail = () => {
      throw error;
    };
    await expect(ctx.step("sync", fail)).rejects.toBe(error);
    await expect(ctx.step("async", async () => fail())).rejects.toBe(error);
  });
});

describe("messages", () => {
  test("reads the conversation of the event, newest first", async () => {
    const { ctx } = scene("dm.message");
    await ctx.reply("one");
    await ctx.reply("two");
    const { excerpt } = payloads["dm.message"];
    expect((await ctx.messages()).map(({ text }) => text)).toEqual(["two", "one", excerpt]);
  });

  test("asks for 50 by default", async () => {
    const asked: string[] = [];
    const { client } = fakeClient();
    const { messages } = client.dms;
    client.dms.messages = (id, options) => {
      asked.push(`${id} ${options?.limit}`);
      return messages.call(client.dms, id, options);
    };
    const ctx = contextFor(jobFor("dm.message"), client);
    await ctx.messages();
    await ctx.messages({ limit: 3 });
    expect(asked).toEqual(["c_1 50", "c_1 3"]);
  });

  test.each(eventTypes.filter((type) => type !== "dm.message"))(
    "a %s belongs to no conversation",
    async (type) => {
      const { client } = fakeClient();
      const messages = contextFor(jobFor(type), client).messages();
      await expect(messages).rejects.toMatchObject({ code: "REPLY_IMPOSSIBLE" });
    },
  );
});

test.each([
  ["the peer of an old conversation is looked for on five pages", String],
  ["so is a peer where the cursor of each page is the same", () => "1"],
])("%s", async (_name, cursorOf) => {
  let pages = 0;
  const page = () => {
    pages += 1;
    return Response.json({ items: [], nextCursor: cursorOf(pages) });
  };
  const { client } = fakeClient({ fetch: async () => page() });
  expect(await contextFor(jobFor("dm.message"), client).peer()).toBeUndefined();
  expect(pages).toBe(5);
});
