import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { markFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { message } from "../support/inbox-events.ts";
import { watchSyncs } from "../support/watched-syncs.ts";
import { watchFailpoints } from "../support/world/failpoints.ts";
import { World } from "../support/world/world.ts";

const LEASE_MS = 30_000;
const MINUTE_MS = 60_000;

const answer = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    await ctx.reply(`to ${ctx.payload.excerpt}`);
  });

/** Runs everything that does not wait for the clock. */
async function pass(): Promise<void> {
  for (let n = 0; n < 50; n++) await turn();
}

describe("1. acknowledged means durable", () => {
  test("an answer of 200 comes after the commit, and what kill -9 leaves then has the events", async () => {
    const world = new World();
    const { promise, resolve } = Promise.withResolvers<void>();
    const bot = await world.startBot((bot) => void bot.on("dm.message", () => promise));
    const event = world.write("ada", "hello");
    expect(await world.deliver(bot, event)).toBe(200);
    const copy = new Sqlite(world.copyInbox());
    expect(copy.prepare("SELECT id FROM event").all()).toEqual([{ id: event.id }]);
    copy.close();
    resolve();
  });

  test("a commit that fails is answered with 503", async () => {
    const world = new World();
    const bot = await world.startBot(answer);
    const watch = watchFailpoints((at) => {
      if (at === "before commit") throw new Error("the disk is gone");
    });
    onTestFinished(watch.remove);
    const event = world.write("ada", "hello");
    expect(await world.deliver(bot, event)).toBe(503);
    watch.remove();
    expect(await world.deliver(bot, event)).toBe(200);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["to hello"]);
  });

  test("an answer of 200 comes after the sync", async () => {
    const world = new World();
    const bot = await world.startBot(answer);
    const disk = Promise.withResolvers<void>();
    const syncs = watchSyncs();
    syncs.wait = disk.promise;
    let syncsWhenAnswered: number | undefined;
    const answered = world.deliver(bot, world.write("ada", "hello")).then((status) => {
      syncsWhenAnswered = syncs.count;
      return status;
    });
    // The reply's intent waits too, so nothing is sent.
    for (let n = 0; n < 20; n++) await turn();
    expect(syncsWhenAnswered).toBe(undefined);
    expect(world.sentTo("ada")).toEqual([]);
    disk.resolve();
    expect(await answered).toBe(200);
    expect(syncsWhenAnswered).toBeGreaterThan(0);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["to hello"]);
  });

  test("a sync that fails is answered with 503", async () => {
    const world = new World();
    const bot = await world.startBot(answer);
    const syncs = watchSyncs();
    syncs.wait = Promise.reject(new Error("EIO"));
    syncs.wait.catch(() => undefined);
    const event = world.write("ada", "hello");
    expect(await world.deliver(bot, event)).toBe(503);
    syncs.wait = Promise.resolve();
    expect(await world.deliver(bot, event)).toBe(200);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["to hello"]);
  });
});

describe("2. one successful run per event id", () => {
  test("an event that comes twenty times, by webhook and from the log, runs once", async () => {
    const world = new World();
    const runs: string[] = [];
    const bot = await world.startBot(
      (bot) => void bot.on("dm.message", (ctx) => void runs.push(ctx.event.id)),
      { delivery: "auto", auditIntervalMs: 1_000, startFrom: "oldest" },
    );
    const event = world.write("ada", "hello");
    const answers = Array.from({ length: 20 }, () => world.deliver(bot, event));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    await world.clock.advance(5_000);
    await world.settle(bot);
    expect(await world.deliver(bot, event)).toBe(200);
    await world.settle(bot);
    expect(runs).toEqual([event.id]);
  });

  test("a run that has lost its lease changes nothing", async () => {
    const world = new World();
    const inbox = new SqliteInbox({ file: world.file, clock: world.clock });
    onTestFinished(() => inbox.close());
    await inbox.put([message("1")], "webhook");
    const [stale] = await inbox.claim(1, LEASE_MS);
    await world.clock.advance(LEASE_MS + 1);
    const [current] = await inbox.claim(1, LEASE_MS);
    if (stale === undefined || current === undefined) throw new Error("nothing was claimed");
    expect(await inbox.complete(stale)).toBe(false);
    expect(await inbox.complete(current)).toBe(true);
  });
});

describe("3. order in a lane, lanes side by side", () => {
  test("events of a conversation run in the order of their ids, however they arrive", async () => {
    const world = new World();
    const events = ["a", "b", "c", "d"].map((text) => world.write("ada", text));
    const bot = await world.startBot(answer);
    expect(await world.deliver(bot, events.toReversed())).toBe(200);
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["to a", "to b", "to c", "to d"]);
  });

  test("a conversation whose handler hangs or fails delays no other", async () => {
    const world = new World();
    const bot = await world.startBot((bot) => {
      bot.on("dm.message", async (ctx) => {
        const { conversationId, excerpt } = ctx.payload;
        if (conversationId === "abe") await once(ctx.signal, "abort");
        if (conversationId === "abi") throw new Error("broken");
        await ctx.reply(`to ${excerpt}`);
      });
    });
    // The order matters, because lanes are claimed alphabetically.
    const events = ["abe", "abi", "ben", "cleo"].map((name) => world.write(name, name));
    expect(await world.deliver(bot, events)).toBe(200);
    await pass();
    expect(world.sentTo("ben")).toEqual(["to ben"]);
    expect(world.sentTo("cleo")).toEqual(["to cleo"]);
  });
});

describe("4. nothing is skipped", () => {
  test("polling takes over from a silent webhook, finds each event, and hands back", async () => {
    const world = new World();
    const bot = await world.startBot(answer, { delivery: "auto", startFrom: "oldest" });
    expect(await world.deliver(bot, world.write("ada", "by webhook"))).toBe(200);
    await world.clock.advance(MINUTE_MS);
    expect(bot.mode).toBe("auditing");
    for (let n = 1; n <= 120; n++) world.write("ada", String(n));
    await world.clock.advance(3 * MINUTE_MS);
    expect(bot.mode).toBe("polling");
    await world.settle(bot);
    const numbers = Array.from({ length: 120 }, (_, index) => `to ${index + 1}`);
    expect(world.sentTo("ada")).toEqual(["to by webhook", ...numbers]);
    for (let n = 0; n < 3; n++) {
      await world.deliver(bot, world.write("ada", "again"));
      await world.clock.advance(MINUTE_MS);
    }
    expect(bot.mode).toBe("auditing");
  });
});

describe("5. failures end somewhere", () => {
  test("an event whose handler always throws is a dead letter with its error, and the next one runs", async () => {
    const world = new World();
    let runs = 0;
    const bot = await world.startBot(
      (bot) => {
        bot.on("dm.message", async (ctx) => {
          if (ctx.payload.excerpt !== "poison") return void (await ctx.reply("alive"));
          runs += 1;
          throw new Error("no way");
        });
      },
      { maxAttempts: 3 },
    );
    const poison = world.write("ada", "poison");
    await world.deliver(bot, [poison, world.write("ada", "hello")]);
    await world.settle(bot);
    expect(runs).toBe(3);
    expect(world.sentTo("ada")).toEqual(["alive"]);
    const inbox = new Sqlite(world.file, { readonly: true });
    const row = inbox
      .prepare("SELECT state, attempts, error FROM event WHERE id = ?")
      .get(poison.id);
    inbox.close();
    expect(row).toMatchObject({
      state: "dead",
      attempts: 3,
      error: "Error: no way",
    });
  });

  test("a run that ends with its process counts, so an event that kills the bot reaches its limit", async () => {
    const world = new World();
    const inbox = new SqliteInbox({ file: world.file, clock: world.clock });
    await inbox.put([message("1")], "webhook");
    const attempts: (number | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      attempts.push((await inbox.claim(1, LEASE_MS))[0]?.attempt);
      await world.clock.advance(LEASE_MS + 1);
    }
    await inbox.close();
    expect(attempts).toEqual([1, 2, 3]);
  });

  test("an outage of the platform counts no attempt", async () => {
    const world = new World();
    let failures = 3;
    const bot = await world.startBot(answer, {
      maxAttempts: 1,
      fetch: async (url, init) => {
        if (init.method === "POST" && failures-- > 0) throw new TypeError("fetch failed");
        return await world.fetch(url, init);
      },
    });
    await world.deliver(bot, world.write("ada", "hello"));
    await world.settle(bot);
    expect(world.sentTo("ada")).toEqual(["to hello"]);
  });
});

describe("7. stopping is boring", () => {
  test("a bot that stops begins nothing, lets its run end, and hands back the rest uncounted", async () => {
    const world = new World();
    const { promise, resolve } = Promise.withResolvers<void>();
    const bot = await world.startBot(
      (bot) => {
        bot.on("dm.message", async (ctx) => {
          await promise;
          await ctx.reply(`to ${ctx.payload.excerpt}`);
        });
      },
      { concurrency: 1 },
    );
    const texts = [
      ["ada", "first"],
      ["ada", "later"],
      ["ben", "second"],
    ] as const;
    await world.deliver(
      bot,
      texts.map(([name, text]) => world.write(name, text)),
    );
    await pass();
    const stopped = bot.stop();
    await pass();
    const ready = await bot.handle(new Request("http://bot.test/readyz"));
    expect(ready.status).toBe(503);
    resolve();
    await pass();
    await stopped;
    expect(world.sentTo("ada")).toEqual(["to first"]);
    expect(world.sentTo("ben")).toEqual([]);
    const next = await world.startBot(answer, { maxAttempts: 1 });
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual(["to first", "to later"]);
    expect(world.sentTo("ben")).toEqual(["to second"]);
  });

  test("a run that outlasts its grace is aborted and handed back uncounted", async () => {
    const world = new World();
    const bot = await world.startBot((bot) => {
      bot.on("dm.message", async (ctx) => {
        await once(ctx.signal, "abort");
        throw ctx.signal.reason;
      });
    });
    await world.deliver(bot, world.write("ada", "hello"));
    await pass();
    const stopped = bot.stop();
    await world.clock.advance(MINUTE_MS);
    await stopped;
    const next = await world.startBot(answer, { maxAttempts: 1 });
    await world.settle(next);
    expect(world.sentTo("ada")).toEqual(["to hello"]);
  });
});

describe("8. a restore sends nothing twice", () => {
  test("an inbox from a backup adopts the answers that the lost bot has sent since", async () => {
    const world = new World();
    const options = { delivery: "auto", startFrom: "oldest" } as const;
    const bot = await world.startBot(answer, options);
    const backup = world.copyInbox();
    const events = ["a", "b"].map((text) => world.write("ada", text));
    await world.deliver(bot, events);
    await world.settle(bot);
    await bot.stop();
    await world.clock.advance(MINUTE_MS);
    world.file = backup;
    markFile(backup, { at: world.clock.now() });
    const restored = await world.startBot(answer, options);
    await world.deliver(restored, events);
    await world.clock.advance(MINUTE_MS);
    await world.settle(restored);
    expect(world.sentTo("ada")).toEqual(["to a", "to b"]);
    expect((await restored.status()).inbox?.deadLetters).toBe(0);
  });
});
