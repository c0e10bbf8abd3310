import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openFile } from "../../faces/inbox-sqlite.ts";
import { emptyPlace, openAt, sessionAt } from "../../support/postgres/open.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { CommandOptions } from "../command.ts";
import { examine } from "./examine.ts";

/** The findings about the database, where nothing else is known. */
async function databaseAt(
  url: string,
  { schema = "service_bot", ...options }: CommandOptions & { readonly schema?: string } = {},
) {
  const env = { DATABASE_URL: url, DATABASE_SCHEMA: schema };
  const { findings } = await examine(env, options);
  return findings.filter(({ area }) => area === "database");
}

/** Whom nothing here belongs to; root may write everything, and whoever is not root is kept off by the mode. */
const stranger = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
const hasStranger = stranger === undefined || isOpenToAll(import.meta.dirname);

function isOpenToAll(folder: string): boolean {
  return (statSync(folder).mode & 0o001) !== 0 && (folder === "/" || isOpenToAll(dirname(folder)));
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

  test("can be written, and whether a bot uses it is told", async () => {
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

  test("where nothing can be made is told", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "file"), "");
    const found = await databaseAt("file:file/bot.db", { cwd });
    expect(found).toEqual(fail(/^file\/bot\.db cannot be written: ENOTDIR/, /DATABASE_URL/));
  });

  test.skipIf(!hasStranger)("that is another user's is told", async () => {
    const cwd = temporaryFolder();
    openFile(join(cwd, "bot.db")).close();
    // The folder can be written, and the file cannot.
    chmodSync(cwd, 0o777);
    chmodSync(join(cwd, "bot.db"), 0o444);
    const found = await databaseAt("file:bot.db", { cwd, user: stranger });
    expect(found).toEqual(fail(/^bot\.db cannot be written: .*readonly/, /DATABASE_URL/));
  });

  test("that is no inbox is told", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "bot.db"), "this is a letter, and no database at all");
    const found = await databaseAt("file:bot.db", { cwd });
    expect(found).toEqual(fail(/^bot\.db cannot be used: file is not a database/, /DATABASE_URL/));
  });

  test("of a newer version is told", async () => {
    const cwd = temporaryFolder();
    const opened = openFile(join(cwd, "bot.db"));
    opened.db.pragma("user_version = 999");
    opened.close();
    const found = await databaseAt("file:bot.db", { cwd });
    expect(found).toEqual(fail(/written by a newer version/, /^Update service-bot/));
  });

  test("that is in memory is told", async () => {
    expect(await databaseAt("file::memory:")).toEqual([
      expect.objectContaining({ level: "note", remedy: expect.stringContaining("file:data") }),
    ]);
  });
});

describe("PostgreSQL", { timeout: 60_000 }, () => {
  test("an inbox can be made, and is not; once it is there, it can be written", async () => {
    const place = await emptyPlace();
    const at = () => databaseAt(place.url, { schema: place.schema });
    expect(await at()).toEqual(ok(expect.stringMatching(/^the inbox can be made at postgres:/)));
    const session = await sessionAt(place);
    const schemas = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    expect((await session.query(schemas, [place.schema])).rows).toEqual([]);
    await openAt(place);
    expect(await at()).toEqual(ok(expect.stringMatching(/can be written; a bot uses it now$/)));
  });

  test("a role that may not write is told", async () => {
    const place = await emptyPlace();
    const session = await sessionAt(place);
    const role = `${place.schema}_reader`;
    await session.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    const url = new URL(place.url);
    url.username = role;
    url.password = "x";
    const at = () => databaseAt(url.href, { schema: place.schema });
    expect(await at()).toEqual(fail(/may not make the schema/, /role/));
    await openAt(place);
    await session.query(`GRANT USAGE ON SCHEMA ${place.schema} TO ${role}`);
    await session.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`);
    expect(await at()).toEqual(fail(/may not write to the tables/, /role/));
    const all = `GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`;
    await session.query(all);
    expect(await at()).toEqual(ok(expect.stringMatching(/can be written/)));
  });

  test("a server that is away is told, without the password", async () => {
    const found = await databaseAt("postgres://bot:pa55word@127.0.0.1:2/bot");
    expect(found).toEqual(fail(/ECONNREFUSED/, /PostgreSQL must run/));
    expect(JSON.stringify(found)).not.toContain("pa55word");
  });
});
