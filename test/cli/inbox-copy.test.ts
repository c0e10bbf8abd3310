import { existsSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, test } from "vitest";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { fillInbox } from "../inbox/copy/whole-inbox.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

// inbox.postgres.test.ts tests copies into PostgreSQL.

const putInbox = inboxTemplate(fillInbox);

let folder: string;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "data", "bot.db");
});

const TO = ["--to", "postgres://bot@127.0.0.1:1/bot"];
const FROM = ["--from", "file:data/bot.db"];

const copy = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(["inbox", "copy", ...args], { cwd: folder, env });

describe("service-bot inbox copy", () => {
  test("--reopen takes back the mark of a copy that no bot has used", async () => {
    await putInbox(file);
    const db = new Sqlite(file);
    db.exec(
      "CREATE TABLE copy_mark AS SELECT 'source' AS role, 'postgres://db' AS other, '1' AS run",
    );
    db.close();
    const again = await copy([...FROM, ...TO]);
    expect(again).toMatchObject({ code: 1 });
    expect(await copy([...FROM, "--reopen"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("again"),
    });
    const { out } = await copy(["--reopen", "--json"], { DATABASE_URL: "file:data/bot.db" });
    expect(JSON.parse(out)).toMatchObject({ reopened: false });
    await new SqliteInbox({ file }).close();
  });

  test("ends with 1 where the database is away, and the bot can go on in the file", async () => {
    await putInbox(file);
    const { code, err } = await copy([...FROM, ...TO]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("Start PostgreSQL") });
    await new SqliteInbox({ file }).close();
  });

  test.each<[string[], string]>([
    [[], "--from"],
    [["--from", "bot.db", ...TO], "--from must have the form"],
    [["--from", "file::memory:", ...TO], "file:data/bot.db"],
    [["--from", "postgres://bot@db/bot", ...TO], "pg_dump"],
    [[...FROM, "--to", "file:x.db"], "restore"],
    [["--reopen", ...TO], "--reopen"],
    [[...FROM, "extra"], "extra"],
    [[...FROM, "--dry-rum"], "Did you mean --dry-run?"],
    [FROM, "--to"],
  ])("%j ends with 2", async (args, names) => {
    const { code, err } = await copy(args);
    expect(code).toBe(2);
    expect(err.split("Usage:")[0]).toContain(names);
  });

  test("needs a source that is there", async () => {
    const missing = await copy([...FROM, ...TO]);
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("no inbox at") });
    expect(existsSync(join(folder, "data"))).toBe(false);
  });
});

test.each(["export", "import"])(
  "inbox %s, which was removed, ends with 2 and a remedy",
  async (name) => {
    const { code, err } = await runCommand(["inbox", name, "letters.jsonl"], { cwd: folder });
    expect(code).toBe(2);
    expect(err).toMatch(/was removed.*inbox (list|copy)/);
  },
);
