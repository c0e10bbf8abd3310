import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openFile } from "../../faces/inbox-sqlite.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { CommandOptions } from "../command.ts";
import { examine } from "./examine.ts";

/** The findings about the database, where nothing else is known. */
async function databaseAt(url: string, options: CommandOptions = {}) {
  const { findings } = await examine({ DATABASE_URL: url }, options);
  return findings.filter(({ area }) => area === "database");
}

const ok = (what: string) => [{ area: "database", level: "ok", what }];
const fail = (what: RegExp, remedy: RegExp) => [
  {
    area: "database",
    level: "fail",
    what: expect.stringMatching(what),
    remedy: expect.stringMatching(remedy),
  },
];

describe("a file", () => {
  test("that is not there yet can be made, and is not", async () => {
    const cwd = temporaryFolder();
    const found = await databaseAt("file:data/deeper/bot.db", { cwd });
    expect(found).toEqual(ok("the inbox can be made at data/deeper/bot.db"));
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("can be written, and whether a bot uses it is reported", async () => {
    const cwd = temporaryFolder();
    const opened = openFile(join(cwd, "bot.db"));
    expect(await databaseAt("file:bot.db", { cwd })).toEqual(
      ok("the inbox at bot.db can be written; a bot uses it now"),
    );
    opened.close();
    const before = readdirSync(cwd).sort();
    expect(await databaseAt("file:bot.db", { cwd })).toEqual(
      ok("the inbox at bot.db can be written"),
    );
    expect(readdirSync(cwd).sort()).toEqual(before);
  });

  test("where nothing can be made is reported", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "file"), "");
    const found = await databaseAt("file:file/bot.db", { cwd });
    expect(found).toEqual(fail(/^file\/bot\.db cannot be written: ENOTDIR/, /DATABASE_URL/));
  });

  test("that is no inbox is reported", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "bot.db"), "this is a letter, and no database at all");
    const found = await databaseAt("file:bot.db", { cwd });
    expect(found).toEqual(fail(/^bot\.db cannot be used: file is not a database/, /DATABASE_URL/));
  });

  test("of a newer version is reported", async () => {
    const cwd = temporaryFolder();
    const opened = openFile(join(cwd, "bot.db"));
    opened.db.pragma("user_version = 999");
    opened.close();
    const found = await databaseAt("file:bot.db", { cwd });
    expect(found).toEqual(fail(/written by a newer version/, /^Update service-bot/));
  });

  test("that is in memory is reported", async () => {
    expect(await databaseAt("file::memory:")).toEqual([
      expect.objectContaining({ level: "note", remedy: expect.stringContaining("file:data") }),
    ]);
  });
});

test("a PostgreSQL server that is away is reported, without the password", async () => {
  const found = await databaseAt("postgres://bot:pa55word@127.0.0.1:2/bot");
  expect(found).toEqual(fail(/ECONNREFUSED/, /PostgreSQL must run/));
  expect(JSON.stringify(found)).not.toContain("pa55word");
});
