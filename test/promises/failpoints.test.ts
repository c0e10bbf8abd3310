import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { type Failpoint, failpoints, watchFailpoints } from "./failpoints.ts";
import { World } from "./world.ts";

const answerTwice = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    const { excerpt } = ctx.payload;
    await ctx.reply(excerpt === "twins" ? excerpt : `1: ${excerpt}`);
    await ctx.reply(excerpt === "twins" ? excerpt : `2: ${excerpt}`);
  });

/**
 * Kills a bot at a failpoint without a process. The inbox is copied as it lies on disk at that moment, and every
 * request and write of the bot fails from then on.
 */
function killAt(world: World, at: Failpoint, hit: number) {
  let passes = 0;
  let copy: string | undefined;
  const watch = watchFailpoints((passed) => {
    if (passed === at && copy === undefined && ++passes === hit) copy = world.copyInbox();
    if (copy !== undefined) throw new Error("killed");
  });
  onTestFinished(watch.remove);
  const fetch = watch.watchFetch(async (url, init) => {
    if (copy !== undefined) throw new Error("killed");
    return await world.fetch(url, init);
  });
  return { fetch, remove: watch.remove, copy: () => copy };
}

/** A lane that goes on with its next event claims nothing, so only the first claim is certain. */
const MAX_HITS = { claim: 1, other: 3 } as const;

const cases = failpoints.flatMap((at) => {
  const hits = at.endsWith("claim") ? MAX_HITS.claim : MAX_HITS.other;
  return Array.from({ length: hits }, (_, index) => ({ at, hit: index + 1 }));
});

test.each(cases)(
  "a bot killed $at, hit $hit, loses nothing and says nothing twice",
  async ({ at, hit }) => {
    const world = new World();
    const kill = killAt(world, at, hit);
    const events = [
      world.write("ada", "hello"),
      world.write("ben", "hi"),
      world.write("ada", "twins"),
    ];
    const bot = await world.startBot(answerTwice, { fetch: kill.fetch });
    const acknowledged = new Set<string>();
    for (const event of events) {
      const status = await world.deliver(bot, event);
      if (status === 200) acknowledged.add(event.id);
    }
    for (let n = 0; kill.copy() === undefined && n < 1_000; n++) {
      await turn();
      if (n % 100 === 99) await world.clock.advance(250);
    }
    const copy = kill.copy();
    if (copy === undefined) throw new Error(`the bot never passed "${at}" ${hit} times`);
    kill.remove();
    world.file = copy;
    const next = await world.startBot(answerTwice);
    // The platform repeats a delivery that was not acknowledged, and none that was.
    const missing = events.filter(({ id }) => !acknowledged.has(id));
    for (const event of missing) expect(await world.deliver(next, event)).toBe(200);
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual(["1: hello", "2: hello", "twins", "twins"]);
    expect(world.sentTo("ben")).toEqual(["1: hi", "2: hi"]);
    expect((await next.status()).inbox?.deadLetters).toBe(0);
  },
);

/** The log has one page, so one `put`; the commits are those of the whole way. */
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
    const kill = killAt(world, at, hit);
    for (const text of ["hello", "twins"]) world.write("ada", text);
    // The cursor stays behind everything younger than a minute.
    await world.clock.advance(120_000);
    await world.startBot(answerTwice, { ...polling, fetch: kill.fetch });
    for (let n = 0; kill.copy() === undefined && n < 20; n++) await world.clock.advance(1_000);
    const copy = kill.copy();
    if (copy === undefined) throw new Error(`the bot never passed "${at}" ${hit} times`);
    kill.remove();
    world.file = copy;
    const next = await world.startBot(answerTwice, polling);
    await world.clock.advance(10_000);
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual(["1: hello", "2: hello", "twins", "twins"]);
  },
);
