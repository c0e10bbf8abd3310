import { expect, test } from "vitest";
import { number, object } from "zod";
import type { BotOptions, Context } from "../../src/index.ts";
import { startTestBot } from "../support/world/test-bot.ts";

/** Handlers that answer at most three mentions of a user, as docs/reference/state.md advises and warns. */

const MENTIONS = 8;
const MAX_ANSWERS = 3;

const User = object({ answers: number().default(0) });
type Mention = Context<"mention">;

/** Delivers mentions by one user on as many posts, all at once. Resolves to the number of replies. */
async function repliesTo(
  handler: (ctx: Mention) => Promise<unknown>,
  options: BotOptions = {},
): Promise<number> {
  const bot = await startTestBot((made) => made.on("mention", handler), options);
  const actor = { username: "ada", name: "Ada" };
  const mentions = Array.from({ length: MENTIONS }, (_, n) => ({
    type: "mention" as const,
    payload: { actor, entityType: "post", entityId: `p_${n}`, postId: `p_${n}`, excerpt: "hi" },
  }));
  await bot.deliver(mentions);
  await bot.advance("1m");
  expect((await bot.bot.inbox.list({ state: "done" })).events).toHaveLength(MENTIONS);
  return bot.sent.length;
}

async function answerUpToMax(ctx: Mention, key: string): Promise<void> {
  const user = await ctx.state(key, User);
  if (user.answers >= MAX_ANSWERS) return;
  user.answers += 1;
  await ctx.reply(`answer ${user.answers}`);
}

test("a limit in a keyed state lets replies of simultaneous events through", async () => {
  const count = await repliesTo((ctx) => answerUpToMax(ctx, `user:${ctx.payload.actor.username}`));
  expect(count).toBeGreaterThan(MAX_ANSWERS);
});

test("a limit in the state of a lane holds, with a lane for each user", async () => {
  const lane: BotOptions["lane"] = (event) =>
    event.type === "mention" ? `user:${event.payload.actor.username}` : undefined;
  const ofLane = (ctx: Mention) => answerUpToMax(ctx, `user:${ctx.payload.actor.username}`);
  expect(await repliesTo(ofLane, { lane })).toBe(MAX_ANSWERS);
});

test("a limit in a database of the application holds, reserved in a step", async () => {
  const reserved = new Set<string>();
  const reserve = (id: string) =>
    reserved.has(id) || (reserved.size < MAX_ANSWERS && Boolean(reserved.add(id)));
  const count = await repliesTo(async (ctx) => {
    const mayAnswer = await ctx.step("reserve", () => reserve(ctx.event.id), { repeatable: true });
    if (mayAnswer) await ctx.reply("an answer");
  });
  expect(count).toBe(MAX_ANSWERS);
});
