import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Inbox, RestoreMark } from "../faces/inbox.ts";
import { markDatabase, PostgresInbox } from "../faces/inbox-postgres.ts";
import { backUpFile, markFile, restoreFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { first } from "../support/first.ts";
import { messages } from "../support/inbox-events.ts";
import { emptyPlace } from "../support/postgres/open.ts";
import { botOptions, runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LEASE = 30_000;

/** Long enough ago that nothing of before can be under way any more. */
const mark = (): RestoreMark => ({ at: Date.now() - 60_000, assumeAbsent: false });

interface Store {
  open(): Promise<Inbox>;
  restored(): Promise<unknown>;
}

async function sqlite(): Promise<Store> {
  const file = join(temporaryFolder(), "bot.db");
  return {
    open: async () => new SqliteInbox({ file }),
    restored: async () => markFile(file, mark()),
  };
}

async function postgres(): Promise<Store> {
  const place = await emptyPlace();
  return { open: () => PostgresInbox.open(place), restored: () => markDatabase(place, mark()) };
}

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
] as const)("an inbox in %s that is restored once more", { timeout: 60_000 }, (_, make) => {
  test("does not trust what the backup knew to have come to nothing, and keeps all else", async () => {
    const store = await make();
    await (await store.open()).close();
    await store.restored();
    const before = await store.open();
    await before.put(messages("1"), "webhook");
    const claim = first(await before.claim(1, LEASE));
    await before.beginStep(claim, "done", "a");
    await before.finishStep(claim, "done", "1");
    await before.beginStep(claim, "nothing", "b");
    await before.dropStep(claim, "nothing");
    await before.beginStep(claim, "open", "c");
    await before.bury(claim, "x");
    await before.close();
    await store.restored();
    const inbox = await store.open();
    onTestFinished(() => inbox.close());
    await inbox.admin.retry("1");
    const again = first(await inbox.claim(1, LEASE));
    expect(await inbox.beginStep(again, "nothing", "b")).toEqual({ state: "new" });
    expect(await inbox.beginStep(again, "done", "a")).toMatchObject({ state: "done" });
    expect(await inbox.beginStep(again, "open", "d")).toMatchObject({
      state: "open",
      request: "c",
    });
  });
});

test("what was refused before the second backup, and sent after it, is not sent again", {
  timeout: 60_000,
}, async () => {
  const folder = temporaryFolder();
  const platform = await runPlatform();
  let refuses = true;
  const run = async (name: string) => {
    const { bot } = await runBot(
      platform,
      (made) =>
        void made.on("dm.message", async (ctx) => {
          await ctx.reply("I have heard you");
        }),
      {
        ...{ ...botOptions(platform), databaseUrl: `file:${join(folder, name)}` },
        ...{ maxAttempts: 1, startFrom: "oldest" as const },
        fetch: async (url, init) => {
          const refused = refuses && init?.method === "POST" && url.includes("/messages");
          return refused
            ? Response.json({ error: { code: "VALIDATION", message: "no" } }, { status: 400 })
            : await fetch(url, init);
        },
      },
    );
    return bot;
  };
  await new SqliteInbox({ file: join(folder, "a.db") }).close();
  markFile(join(folder, "a.db"), mark());
  const bot = await run("a.db");
  const { events } = platform.control.act({ type: "dm.message", from: "ada", text: "hello" });
  const conversation = String(Object(first(events).payload)["conversationId"]);
  const replies = () => platform.control.messages(conversation).filter(({ fromBot }) => fromBot);
  await expect.poll(async () => (await bot.inbox.stats()).dead, { timeout: 20_000 }).toBe(1);
  await backUpFile(join(folder, "a.db"), join(folder, "backup.db"));
  refuses = false;
  await bot.inbox.retry({});
  await expect.poll(() => replies().length, { timeout: 20_000 }).toBe(1);
  await bot.stop();
  await restoreFile(join(folder, "backup.db"), join(folder, "b.db"), mark(), false);
  const second = await run("b.db");
  await second.inbox.retry({});
  await expect.poll(async () => (await second.inbox.stats()).done, { timeout: 20_000 }).toBe(1);
  expect(replies()).toHaveLength(1);
});
