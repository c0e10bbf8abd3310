import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot } from "../src/index.ts";
import { onComment } from "../templates/starter/src/handlers/comment.ts";
import { onDmMessage } from "../templates/starter/src/handlers/dm-message.ts";
import { onReply } from "../templates/starter/src/handlers/reply.ts";
import type { Platform } from "./faces/platform.ts";
import { kindOf, logSink } from "./support/log.ts";
import { botOptions, runBot, runPlatform } from "./support/running-bot.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Registers the starter's handlers that reply, but without the picture in the reply to a mention. */
function answer(bot: Bot): void {
  bot.on("dm.message", onDmMessage);
  bot.on("comment", onComment);
  bot.on("reply", onReply);
  bot.on("mention", (ctx) => ctx.reply(`Hi ${ctx.payload.actor.name}, here I am.`));
}

const commentsOf = (platform: Platform, bot: string) =>
  platform.control.comments("p_1").filter(({ author }) => author.username === bot);

/** Resolves once the bot has handled every event in its log. */
async function settled(bot: Bot, platform: Platform): Promise<void> {
  for (;;) {
    await bot.idle();
    const { done, dead } = await bot.inbox.stats();
    if (done + dead === platform.control.events().length) return;
    await setImmediate();
  }
}

describe("a platform that reports what the bot does itself", () => {
  test("a user's comment gets exactly one comment in reply", async () => {
    const platform = await runPlatform();
    platform.control.setFaults({ events: { mode: "own" } });
    const { bot, log } = await runBot(platform, answer);
    platform.control.act({ type: "comment", from: "ada", text: "nice" });
    await platform.waitFor("event", ({ from }) => from === "bot");
    await settled(bot, platform);
    expect(commentsOf(platform, "bot")).toHaveLength(1);
    expect(await bot.inbox.stats()).toMatchObject({ done: 2, dead: 0, pending: 0 });
    const own = log.records.filter((line) => line.level === "debug" && kindOf(line) === "handler");
    expect(own).toMatchObject([{ type: "comment" }]);
  });

  test("every user gets a reply, and the profile is read once", async () => {
    const platform = await runPlatform();
    platform.control.setFaults({ events: { mode: "own" } });
    let profileReads = 0;
    platform.onTimeline((entry) => {
      if (entry.kind === "api" && entry.path === "/me") profileReads += 1;
    });
    const { bot } = await runBot(platform, answer);
    for (const from of ["ada", "ben", "cleo"]) {
      platform.control.act({ type: "comment", from, text: "nice" });
      platform.control.act({ type: "dm.message", from, text: "hi" });
    }
    await settled(bot, platform);
    expect(commentsOf(platform, "bot")).toHaveLength(3);
    const dms = platform.control.events().filter(({ type }) => type === "dm.message");
    expect(dms).toHaveLength(6);
    expect(profileReads).toBe(1);
  });

  test("a token with the scope dm alone answers one message once", async () => {
    const platform = await runPlatform();
    platform.control.setFaults({ events: { mode: "own" } });
    const { apiKey } = platform.control.createToken(["dm"]);
    const { bot } = await runBot(platform, answer, { apiKey, delivery: "webhook" });
    const { conversationId = "" } = platform.control.act({
      type: "dm.message",
      from: "ada",
      text: "hi",
    });
    await platform.waitFor("event", ({ from }) => from === "bot");
    await settled(bot, platform);
    const messages = platform.control.messages(conversationId);
    expect(messages.filter(({ fromBot }) => fromBot)).toHaveLength(1);
  });
});

test("what a step of a handler returns is no account of the bot", async () => {
  const platform = await runPlatform();
  const { apiKey } = platform.control.createToken(["dm"]);
  const { bot } = await runBot(
    platform,
    (made) => {
      made.on("dm.message", async (ctx) => {
        await ctx.step("look up", () => ({ author: { username: "ada" } }));
        await ctx.reply("found");
      });
    },
    { apiKey, delivery: "webhook" },
  );
  const say = async (text: string) => {
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada", text });
    await settled(bot, platform);
    return platform.control.messages(conversationId);
  };
  await say("hi");
  const messages = await say("hi again");
  expect(messages.filter(({ fromBot }) => fromBot)).toHaveLength(2);
});

test("events wait for a platform that does not answer GET /me without losing an attempt", async () => {
  const platform = await runPlatform();
  const hanging = Promise.withResolvers<Response>();
  onTestFinished(() => hanging.reject(new Error("over")));
  const { bot } = await runBot(platform, answer, {
    handlerTimeoutMs: 200,
    fetch: (url, init) => (String(url).endsWith("/me") ? hanging.promise : fetch(url, init)),
  });
  const { events } = platform.control.act({ type: "dm.message", from: "ada", text: "hi" });
  await settled(bot, platform);
  expect(await bot.inbox.show(events[0]?.id ?? "")).toMatchObject({ state: "done", attempts: 1 });
});

test("a handler can leave another bot without an answer", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  const { bot } = await runBot(platform, (made) => {
    made.use(async (ctx, next) => {
      const peer = await ctx.peer();
      if (peer?.isBot !== true) await next();
    });
    answer(made);
  });
  const said = ["other", "ada"].map((from) => {
    const { conversationId = "" } = platform.control.act({
      type: "dm.message",
      from,
      to: "bot",
      text: "hi",
    });
    return conversationId;
  });
  platform.control.act({ type: "comment", from: "ada", text: "nice" });
  await settled(bot, platform);
  const answers = said.map((id) =>
    platform.control.messages(id).filter(({ authorUsername }) => authorUsername === "bot"),
  );
  expect(answers.map(({ length }) => length)).toEqual([0, 1]);
  expect(commentsOf(platform, "bot")).toHaveLength(1);
});

test("two bots in one conversation are held back with one warning, and a user still gets a reply", async () => {
  const platform = await runPlatform();
  const other = platform.control.apps.create({ username: "other" });
  const first = await runBot(platform, answer);
  const log = logSink();
  const second = new Bot({
    ...botOptions(platform),
    apiKey: other.apiKey,
    webhookSecret: other.webhookSecret,
    logger: log.log,
  });
  answer(second);
  await second.start({ standalone: false });
  onTestFinished(() => second.stop());
  platform.control.saveWebhook({ url: `${second.url}/webhook` }, "other");
  const waitsIn = async (bot: Bot) => {
    const { events } = await bot.inbox.list({ state: "pending" });
    return events.map(({ wait }) => wait?.reason);
  };
  const { conversationId = "" } = platform.control.act({
    type: "dm.message",
    from: "other",
    to: "bot",
    text: "hi",
  });
  const messages = () => platform.control.messages(conversationId);
  // Each bot replies to 30 of the other bot's messages.
  await platform.waitFor("event", () => messages().length >= 61);
  // The last message may still be on its way to its bot.
  await expect
    .poll(async () => [await waitsIn(first.bot), await waitsIn(second)].flat())
    .toEqual(["loop_guard"]);
  platform.control.act({ type: "dm.message", from: "ada", text: "hello" });
  await platform.waitFor("api", ({ text }) => text === "Hi Ada! You wrote: hello");
  expect(messages()).toHaveLength(61);
  const warnings = [...first.log.records, ...log.records].filter(
    (line) => line.level === "warn" && kindOf(line) === "retry",
  );
  expect(warnings).toHaveLength(1);
});

describe("a comment on the bot's post that mentions it is answered once", () => {
  const text = "nice, @bot";

  test("by the first of its events, and another comment with the same text is answered, too", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, answer);
    const { events } = platform.control.act({ type: "comment", from: "ada", text });
    expect(events.map(({ type }) => type)).toEqual(["comment", "mention"]);
    await settled(bot, platform);
    expect(commentsOf(platform, "bot")).toHaveLength(1);
    platform.control.act({ type: "comment", from: "ada", text });
    await settled(bot, platform);
    expect(commentsOf(platform, "bot")).toHaveLength(2);
  });

  test("also by a process that ends between the two events", async () => {
    const platform = await runPlatform();
    const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
    const seen: string[] = [];
    const register = (bot: Bot) => {
      bot.use((ctx, next) => {
        seen.push(ctx.event.type);
        return next();
      });
      answer(bot);
    };
    const first = await runBot(platform, register, { databaseUrl, delivery: "webhook" });
    platform.control.saveWebhook({ types: ["comment"] });
    platform.control.act({ type: "comment", from: "ada", text });
    await platform.waitFor("api", ({ method }) => method === "POST");
    await first.bot.stop();
    const second = await runBot(platform, register, {
      databaseUrl,
      delivery: "polling",
      startFrom: "oldest",
    });
    await settled(second.bot, platform);
    expect(seen).toEqual(["comment", "mention"]);
    expect(commentsOf(platform, "bot")).toHaveLength(1);
  });

  test("by its second event if the reply to the first is refused", async () => {
    const platform = await runPlatform();
    const register = (made: Bot) => {
      made.on("comment", (ctx) => ctx.reply("x".repeat(1_000_000)));
      made.on("mention", (ctx) => ctx.reply("as a mention"));
    };
    const { bot } = await runBot(platform, register);
    platform.control.act({ type: "comment", from: "ada", text });
    await settled(bot, platform);
    expect(await bot.inbox.stats()).toMatchObject({ done: 1, dead: 1 });
    expect(commentsOf(platform, "bot").map((comment) => comment.text)).toEqual(["as a mention"]);
  });

  test("and ctx.comment goes out in any case", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, (made) => {
      made.on("comment", (ctx) => ctx.reply("as a comment"));
      made.on("mention", (ctx) => ctx.comment(ctx.payload.postId ?? "", "as a mention"));
    });
    platform.control.act({ type: "comment", from: "ada", text });
    await settled(bot, platform);
    expect(commentsOf(platform, "bot").map((comment) => comment.text)).toEqual([
      "as a comment",
      "as a mention",
    ]);
  });
});
