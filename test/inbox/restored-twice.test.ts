import { join } from "node:path";
import { expect, test } from "vitest";
import { markNow, restoredTwiceContract } from "../contract/inbox-restored-twice.ts";
import { backUpFile, markFile, restoreFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { first } from "../support/first.ts";
import { botOptions, runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

restoredTwiceContract("SQLite", async () => {
  const file = join(temporaryFolder(), "bot.db");
  return {
    open: async () => new SqliteInbox({ file }),
    restored: async (mark) => markFile(file, mark),
  };
});

test("what was refused before the second backup, and sent after it, is not sent again", async () => {
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
  markFile(join(folder, "a.db"), markNow());
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
  await restoreFile(join(folder, "backup.db"), join(folder, "b.db"), markNow(), false);
  const second = await run("b.db");
  await second.inbox.retry({});
  await expect.poll(async () => (await second.inbox.stats()).done, { timeout: 20_000 }).toBe(1);
  expect(replies()).toHaveLength(1);
});
