import { describe, expect, test } from "vitest";
import type { TestBot, TestEvent } from "../src/testing/index.ts";
import type { Bot } from "./faces/bot.ts";
import { sign } from "./faces/signature.ts";
import { startTestBot } from "./support/world/test-bot.ts";

// Section 6 of the platform document names the fields of payloads, but not their types.

const SECRET = "whsec_for_these_tests";
const from = { userId: "u_1", username: "ada", name: "Ada" };

async function startBot(): Promise<{ under: TestBot<Bot>; handled: string[] }> {
  const handled: string[] = [];
  const prepare = (bot: Bot) => {
    bot.use(async (ctx, next) => {
      handled.push(ctx.event.id);
      await next();
    });
    bot.on("dm.message", (ctx) => ctx.reply(`${ctx.payload.from.name}: ${ctx.payload.excerpt}`));
    bot.on("mention", (ctx) => ctx.reply(`Hi ${ctx.payload.actor.name}`));
  };
  const under = await startTestBot(prepare, { webhookSecret: SECRET });
  return { under, handled };
}

describe("an event that could be answered is answered", () => {
  test.each<[string, object, string]>([
    ["a userId by number", { from: { ...from, userId: 7 } }, "Ada: "],
    ["no userId", { from: { username: "ada", name: "Ada" } }, "Ada: "],
    ["a name that is null", { from: { ...from, name: null } }, "ada: "],
    ["a sender that is null", { from: null }, ": "],
  ])("a message with %s, and without an excerpt", async (_name, fields, text) => {
    const { under } = await startBot();
    const event: TestEvent = { type: "dm.message", payload: { conversationId: 7, ...fields } };
    await under.deliver(event, { secret: SECRET });
    expect(under.sent).toEqual([{ kind: "dm", conversationId: "7", text }]);
    expect((await under.bot.inbox.list({ state: "dead" })).events).toEqual([]);
  });

  test.each<[string, object]>([
    ["an entityId by number", { entityType: "post", entityId: 7 }],
    ["a postId by number, and no entity", { postId: 7 }],
  ])("a mention with %s, by an actor without a name", async (_name, fields) => {
    const { under } = await startBot();
    const payload = { actor: { username: "ada", name: null }, ...fields };
    const event: TestEvent = { type: "mention", payload };
    await under.deliver(event, { secret: SECRET });
    expect(under.sent).toEqual([{ kind: "comment", postId: "7", text: "Hi ada" }]);
    expect((await under.bot.inbox.list({ state: "dead" })).events).toEqual([]);
  });
});

describe("an id by number", () => {
  /** Delivers follow events with numeric ids that `JSON.stringify` could not write. */
  async function deliver(under: TestBot<Bot>, ids: readonly string[]): Promise<unknown> {
    const follow = '"type":"follow","payload":{"actor":{"username":"ada","name":"Ada"}}';
    const events = ids.map((id) => `{"id":${id},${follow}}`);
    const body = `{"events":[${events.join(",")}]}`;
    const signature = sign(body, SECRET, under.clock.now() / 1000);
    const headers = { "x-service-signature": signature };
    const request = new Request("http://bot.test/webhook", { method: "POST", headers, body });
    const response = await under.bot.handle(request);
    await under.bot.idle();
    return await response.json();
  }

  test("names the event that the same text names", async () => {
    const { under, handled } = await startBot();
    expect(await deliver(under, ["123"])).toEqual({ stored: 1, duplicates: 0 });
    expect(await deliver(under, ['"123"', "123"])).toEqual({ stored: 0, duplicates: 2 });
    expect(handled).toEqual(["123"]);
  });

  test("beyond 2^53 keeps its digits, so that two events are not taken for one", async () => {
    const { under, handled } = await startBot();
    const ids = ["9007199254740993", "9007199254740992", "12345678901234567890"];
    expect(await deliver(under, ids)).toEqual({ stored: 3, duplicates: 0 });
    expect(handled).toEqual(["9007199254740992", "9007199254740993", "12345678901234567890"]);
    const texts = ids.map((id) => `"${id}"`);
    expect(await deliver(under, texts)).toEqual({ stored: 0, duplicates: 3 });
    expect((await under.bot.inbox.list({ state: "dead" })).events).toEqual([]);
  });
});
