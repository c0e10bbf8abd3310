import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openFile } from "../../faces/inbox-sqlite.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { examineDatabase, failFindings, okFindings } from "./database.ts";

describe("a file", () => {
  test("that is not there yet can be made, and is not", async () => {
    const cwd = temporaryFolder();
    const [found] = await examineDatabase({ DATABASE_URL: "file:data/deeper/bot.db" }, { cwd });
    expect([found]).toEqual(okFindings("the bot can create its inbox at data/deeper/bot.db"));
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("can be written, and whether a bot uses it is reported", async () => {
    const cwd = temporaryFolder();
    const opened = openFile(join(cwd, "bot.db"));
    const [used] = await examineDatabase({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect([used]).toEqual(okFindings("the inbox at bot.db is writable (in use by a running bot)"));
    opened.close();
    const before = readdirSync(cwd).sort();
    const [found] = await examineDatabase({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect([found]).toEqual(okFindings("the inbox at bot.db is writable"));
    expect(readdirSync(cwd).sort()).toEqual(before);
  });

  test("that was removed under a running bot is reported", async () => {
    const cwd = temporaryFolder();
    const opened = openFile(join(cwd, "bot.db"));
    onTestFinished(() => opened.close());
    rmSync(join(cwd, "bot.db"));
    const found = await examineDatabase({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect(found).toEqual(
      failFindings(/bot\.db was removed or moved while a bot was using it/, /./),
    );
  });

  test("that was removed after the bot had stopped is reported", async () => {
    const cwd = temporaryFolder();
    openFile(join(cwd, "bot.db")).close();
    rmSync(join(cwd, "bot.db"));
    const found = await examineDatabase({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect(found).toEqual(failFindings(/There is no inbox/, /./));
  });

  test("where nothing can be made is reported", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "file"), "");
    const found = await examineDatabase({ DATABASE_URL: "file:file/bot.db" }, { cwd });
    expect(found).toEqual(failFindings(/file\/bot\.db: ENOTDIR/, /DATABASE_URL/));
  });

  test("that is no inbox is reported", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "bot.db"), "this is a letter, and no database at all");
    const found = await examineDatabase({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect(found).toEqual(
      failFindings(/^Cannot use bot\.db: file is not a database/, /DATABASE_URL/),
    );
  });

  test("of a newer version is reported", async () => {
    const cwd = temporaryFolder();
    const opened = openFile(join(cwd, "bot.db"));
    opened.db.pragma("user_version = 999");
    opened.close();
    const found = await examineDatabase({ DATABASE_URL: "file:bot.db" }, { cwd });
    expect(found).toEqual(failFindings(/written by a newer version/, /^Update service-bot/));
  });

  test("that is in memory is reported", async () => {
    expect(await examineDatabase({ DATABASE_URL: "file::memory:" })).toEqual([
      expect.objectContaining({ level: "note", remedy: expect.stringContaining("file:data") }),
    ]);
  });
});

test("a PostgreSQL server that is away is reported, without the password", async () => {
  const found = await examineDatabase({ DATABASE_URL: "postgres://bot:pa55word@127.0.0.1:2/bot" });
  expect(found).toEqual(failFindings(/ECONNREFUSED/, /running PostgreSQL server/));
  expect(JSON.stringify(found)).not.toContain("pa55word");
});
