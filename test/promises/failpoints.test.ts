import { expect, test } from "vitest";
import { number, object } from "zod";
import type { Bot } from "../../src/index.ts";
import { failpoints, timerFailpoints } from "../support/world/failpoints.ts";
import { Kill } from "../support/world/kill.ts";
import { World } from "../support/world/world.ts";

const answerTwice = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    const { excerpt } = ctx.payload;
    await ctx.reply(excerpt === "twins" ? excerpt : `1: ${excerpt}`);
    await ctx.reply(excerpt === "twins" ? excerpt : `2: ${excerpt}`);
  });

/** A lane that advances to its next event needs no claim, so only the first claim is certain. */
const MAX_HITS = { claim: 1, other: 3 } as const;

const cases = failpoints.flatMap((at) => {
  const hits = at.endsWith("claim") ? MAX_HITS.claim : MAX_HITS.other;
  return Array.from({ length: hits }, (_, index) => ({ at, hit: index + 1 }));
});

test.each(cases)(
  "a bot killed $at, hit $hit, loses nothing and says nothing twice",
  async ({ at, hit }) => {
    const world = new World();
    const kill = new Kill(world, at, hit);
    const events = [
      world.write("ada", "hello"),
      world.write("ben", "hi"),
      world.write("ada", "twins"),
    ];
    const bot = await kill.startBot(answerTwice);
    const acknowledged = new Set<string>();
    for (const event of events) {
      const status = await world.deliver(bot, event);
      if (status === 200) acknowledged.add(event.id);
    }
    await kill.happens();
    const next = await world.startBot(answerTwice);
    // The platform retries only deliveries without an acknowledgement.
    const missing = events.filter(({ id }) => !acknowledged.has(id));
    for (const event of missing) expect(await world.deliver(next, event)).toBe(200);
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual(["1: hello", "2: hello", "twins", "twins"]);
    expect(world.sentTo("ben")).toEqual(["1: hi", "2: hi"]);
    expect((await next.status()).inbox?.deadLetters).toBe(0);
  },
);

test("a bot killed after the platform got its answer continues at once after a restart", async () => {
  const world = new World();
  const kill = new Kill(world, "after answer", 1);
  const event = world.write("ada", "hello");
  const bot = await kill.startBot(answerTwice);
  await world.deliver(bot, event);
  await kill.happens();
  const next = await world.startBot(answerTwice);
  await world.settle(next);
  expect(world.sentTo("ada")).toEqual(["1: hello", "2: hello"]);
  // No run was postponed.
  const { history } = await next.inbox.show(event.id);
  expect(history.map(({ outcome }) => outcome)).toEqual(["crashed"]);
});

/** The log has a single page, so `put` happens once. Commits are counted over the whole run. */
const arrivals = [
  { at: "before put", hit: 1 },
  { at: "after put", hit: 1 },
  ...[1, 2, 3, 4].map((hit) => ({ at: "before commit" as const, hit })),
  ...[1, 2, 3, 4].map((hit) => ({ at: "after commit" as const, hit })),
] as const;

test.each(arrivals)(
  "a bot that reads the log and is killed $at, hit $hit, skips nothing",
  async ({ at, hit }) => {
    const world = new World();
    const polling = { delivery: "polling", startFrom: "oldest" } as const;
    const kill = new Kill(world, at, hit);
    for (const text of ["hello", "twins"]) world.write("ada", text);
    // The cursor never passes events younger than a minute.
    await world.clock.advance(120_000);
    await kill.startBot(answerTwice, polling);
    await kill.happens(() => 1_000);
    const next = await world.startBot(answerTwice, polling);
    await world.clock.advance(10_000);
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual(["1: hello", "2: hello", "twins", "twins"]);
  },
);

const counting = { state: object({ count: number().default(0), reminded: number().default(0) }) };
type Counting = { count: number; reminded: number };

const countAndRemind = (bot: Bot<Counting>) => {
  bot.on("dm.message", async (ctx) => {
    const state = await ctx.state();
    state.count += 1;
    await ctx.later("remind", "10m", state.count);
    const all = await ctx.state("all");
    all.count += 1;
    const isLast = ctx.payload.conversationId === "cyd";
    await ctx.reply(`count ${state.count}${isLast ? ` of ${all.count}` : ""}`);
  });
  bot.onTimer("remind", async (ctx) => {
    const state = await ctx.state();
    state.reminded += 1;
    await ctx.reply(`reminder ${state.reminded}, set by message ${ctx.payload.data}`);
  });
};

const timerCases = [
  ...(["claim", "record"] as const).flatMap((name) => [
    { at: `before ${name}` as const, hit: 1 },
    { at: `after ${name}` as const, hit: 1 },
  ]),
  ...[1, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((hit) => [
    { at: "before commit" as const, hit },
    { at: "after commit" as const, hit },
  ]),
  ...[1, 2, 3, 5].flatMap((hit) => [
    { at: "before complete" as const, hit },
    { at: "after complete" as const, hit },
  ]),
  ...timerFailpoints.map((at) => ({ at, hit: 1 })),
];

test.each(timerCases)(
  "a bot killed $at, hit $hit, counts each message once and fires each timer once",
  async ({ at, hit }) => {
    const world = new World();
    const kill = new Kill(world, at, hit);
    const texts = [["ada", "one"] as const, ["ben", "two"] as const, ["ada", "three"] as const];
    const events = texts.map(([person, text]) => world.write(person, text));
    const bot = await kill.startBot(countAndRemind, counting);
    const acknowledged = new Set<string>();
    for (const event of events) {
      const status = await world.deliver(bot, event);
      if (status === 200) acknowledged.add(event.id);
    }
    await kill.happens((moves) => (moves < 3 ? 250 : 200_000));
    const next = await world.startBot(countAndRemind, counting);
    for (const event of events.filter(({ id }) => !acknowledged.has(id))) {
      expect(await world.deliver(next, event)).toBe(200);
    }
    await world.settle(next);
    await world.clock.advance(700_000);
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual([
      "count 1",
      "count 2",
      "reminder 1, set by message 1",
      "reminder 2, set by message 2",
    ]);
    expect(world.sentTo("ben")).toEqual(["count 1", "reminder 1, set by message 1"]);
    expect(await world.deliver(next, world.write("cyd", "four"))).toBe(200);
    await world.settle(next);
    expect(world.sentTo("cyd")).toEqual(["count 1 of 4"]);
    expect((await next.status()).inbox?.deadLetters).toBe(0);
  },
);
