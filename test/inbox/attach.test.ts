import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { AttachedInbox } from "../faces/inbox.ts";
import { attachInbox, type SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let file: string;
let clock: ManualClock;

beforeEach(() => {
  file = join(temporaryFolder(), "bot.db");
  clock = new ManualClock(1_800_000_000_000);
});

function openBot(maxBacklog = 100): SqliteInbox {
  return openSqlite({ file, clock, maxBacklog });
}

function attach(): AttachedInbox {
  const attached = attachInbox(file, clock);
  onTestFinished(() => attached.close());
  return attached;
}

async function bury(inbox: SqliteInbox, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await inbox.put([message(id)], "webhook");
    await inbox.bury(first(await inbox.claim(1, 1_000)), "x");
  }
}

function change(work: (db: Sqlite.Database) => unknown): void {
  const db = new Sqlite(file);
  work(db);
  db.close();
}

describe("beside a running bot", () => {
  test("the inbox can be looked at and decided about", async () => {
    const bot = openBot();
    await bury(bot, "1", "2");
    const { admin, served } = attach();
    expect(await served()).toBe(true);
    expect(await admin.stats()).toMatchObject({ dead: 2 });
    await admin.retry("1");
    await admin.discard("2", "spam");
    expect(await bot.claim(10, 1_000)).toMatchObject([{ id: "1", attempt: 1 }]);
    expect(await bot.admin.show("2")).toMatchObject({ state: "discarded", discardReason: "spam" });
  });

  test("what is decided is noticed by the bot within a second", async () => {
    const bot = openBot(1);
    await bury(bot, "1");
    let calls = 0;
    bot.onReady(() => {
      calls += 1;
    });
    const { admin } = attach();
    await admin.retry("1");
    await clock.advance(1_000);
    expect(calls).toBe(1);
    await expect(bot.put(messages("2"), "webhook")).rejects.toMatchObject({ code: "INBOX_FULL" });
    await admin.discard("1", "spam");
    await clock.advance(1_000);
    expect(await bot.put(messages("2"), "webhook")).toMatchObject({ stored: ["2"] });
  });

  test("reads, and the bot's own writes, wake no one", async () => {
    const bot = openBot();
    await bury(bot, "1");
    let calls = 0;
    bot.onReady(() => {
      calls += 1;
    });
    const { admin } = attach();
    await admin.list();
    await admin.show("1");
    await bot.admin.discard("1", "spam");
    calls = 0;
    for (let i = 0; i < 3; i++) await clock.advance(1_000);
    expect(calls).toBe(0);
  });

  test("an event that is being handled is left to its run", async () => {
    const bot = openBot();
    await bot.put(messages("1"), "webhook");
    const claim = first(await bot.claim(1, 30_000));
    const { admin } = attach();
    await expect(admin.discard("1", "spam")).rejects.toMatchObject({ code: "EVENT_LEASED" });
    expect(await bot.complete(claim)).toBe(true);
  });

  test("nothing is left to wake a bot that was closed", async () => {
    const bot = openBot();
    expect(clock.waiting).toBe(1);
    await bot.close();
    expect(clock.waiting).toBe(0);
  });
});

describe("without a bot", () => {
  test("what is decided waits for its next start", async () => {
    const before = openBot();
    await bury(before, "1");
    await before.close();
    const { admin, served, close } = attach();
    expect(await served()).toBe(false);
    await admin.retry("1");
    await close();
    expect(await openBot().claim(1, 1_000)).toMatchObject([{ id: "1", attempt: 1 }]);
  });

  test("an event whose run ended with its process can be discarded once its lease is over", async () => {
    const before = openBot();
    await before.put(messages("1"), "webhook");
    await before.claim(1, 30_000);
    await before.close();
    const { admin } = attach();
    await expect(admin.discard("1", "spam")).rejects.toMatchObject({ code: "EVENT_LEASED" });
    await clock.advance(30_000);
    await admin.discard("1", "spam");
    expect(await openBot().claim(1, 1_000)).toEqual([]);
  });

  test("asking whether there is one makes no file", async () => {
    await openBot().close();
    const folder = join(file, "..");
    rmSync(`${file}-lock`);
    const before = readdirSync(folder);
    const { served, close } = attach();
    expect(await served()).toBe(false);
    await close();
    expect(readdirSync(folder)).toEqual(before);
  });
});

test("a dead letter whose lane was dropped meanwhile keeps its history when it is retried", async () => {
  const bot = openBot();
  await bury(bot, "1");
  change((db) => db.exec("DELETE FROM lane"));
  await bot.admin.retry("1");
  await bot.bury(first(await bot.claim(1, 1_000)), "again");
  expect((await bot.admin.show("1")).history).toMatchObject([{ error: "x" }, { error: "again" }]);
});

describe("a dead letter whose content was dropped", () => {
  test("is shown without it, cannot be retried, and can be discarded", async () => {
    const bot = openBot();
    await bury(bot, "1", "2");
    change((db) => db.exec("UPDATE event SET body = NULL WHERE id = '1'"));
    expect((await bot.admin.show("1")).body).toBeUndefined();
    await expect(bot.admin.retry("1")).rejects.toMatchObject({ code: "EVENT_BODY_DROPPED" });
    expect(await bot.admin.retry({})).toEqual({ changed: 1, skipped: 1 });
    expect(await bot.claim(10, 1_000)).toMatchObject([{ id: "2" }]);
    expect(await bot.admin.discard("1", "too late")).toEqual({ changed: 1, skipped: 0 });
  });
});

describe("what is no inbox of this version is refused with the way out, and left as it is", () => {
  const refused = (code: string, message: RegExp) => {
    const before = existsSync(file) ? readFileSync(file) : undefined;
    expect(() => attach()).toThrow(expect.objectContaining({ code }));
    expect(() => attach()).toThrow(message);
    expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
  };

  test("a file that is not there, which is not made", () => {
    refused("INBOX_MISSING", /DATABASE_URL/);
    expect(existsSync(file)).toBe(false);
  });

  test("a bot's memory", () => {
    file = ":memory:";
    expect(() => attach()).toThrow(/bot\.inbox/);
  });

  test("an empty file, a text, another database", () => {
    writeFileSync(file, "");
    refused("INBOX_UNUSABLE", /not a service-bot inbox/);
    writeFileSync(file, "these are notes, not a database, and long enough to be looked at");
    refused("INBOX_UNUSABLE", /not a database/);
    writeFileSync(file, "");
    change((db) => {
      db.exec("CREATE TABLE event (id TEXT)");
      db.pragma("user_version = 1");
    });
    refused("INBOX_UNUSABLE", /not a service-bot inbox.*DATABASE_URL/s);
  });

  test("a file of a newer version", async () => {
    await openBot().close();
    change((db) => db.pragma("user_version = 999"));
    refused("INBOX_TOO_NEW", /Update service-bot/);
  });

  test("a file of an older version, whose schema is the bot's to change", async () => {
    await openBot().close();
    // No older schema version exists yet, so use an invalid one.
    change((db) => db.pragma("user_version = -1"));
    refused("INBOX_TOO_OLD", /Start the bot once/);
  });
});
