import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { attachInbox, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { fillInbox } from "../inbox/copy/whole-inbox.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

// Copies to and from PostgreSQL are in inbox.postgres.test.ts.

const putInbox = inboxTemplate(fillInbox);

let folder: string;
let file: string;
let target: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "data", "bot.db");
  target = join(folder, "new", "bot.db");
});

const env = { DATABASE_URL: "file:new/bot.db" };

const FROM = ["inbox", "copy", "--from", "file:data/bot.db"];

const copy = (...flags: readonly string[]) => runCommand([...FROM, ...flags], { cwd: folder, env });

describe("service-bot inbox copy", () => {
  test("prints rows and checksums of each table, and what to do next", async () => {
    await putInbox(file);
    const { code, out, err } = await copy();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^event +8 +[0-9a-f]{16} +the same$/m);
    expect(out).toMatch(/file:.*bot\.db to file:.*bot\.db/);
    expect(out).toContain("DATABASE_URL");
    const made = attachInbox(target);
    onTestFinished(() => made.close());
    expect(await made.admin.stats()).toMatchObject({ done: 1, dead: 2, discarded: 1, pending: 4 });
  });

  test("--json is one line, with the whole checksums", async () => {
    await putInbox(file);
    const { code, out } = await copy("--json");
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ verified: true, clockMovedMs: 0, ms: expect.any(Number) });
    expect(report.tables[0]).toEqual({
      name: "event",
      rows: 8,
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("--dry-run counts, and changes nothing on either side", async () => {
    await putInbox(file);
    const { code, out } = await copy("--dry-run");
    expect(code).toBe(0);
    expect(out).toMatch(/event +8\n/);
    expect(existsSync(target)).toBe(false);
    await new SqliteInbox({ file }).close();
    expect(JSON.parse((await copy("--dry-run", "--json")).out).rows).toMatchObject({ event: 8 });
    await copy();
    const again = await copy("--dry-run");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("was copied to") });
  });

  test("--reopen takes a copy back that no bot has used", async () => {
    await putInbox(file);
    await copy();
    expect(await copy("--reopen")).toMatchObject({
      code: 0,
      out: expect.stringContaining("again"),
    });
    expect(JSON.parse((await copy("--reopen", "--json")).out)).toMatchObject({ reopened: false });
    await new SqliteInbox({ file }).close();
  });

  test("reads DATABASE_URL of .env for the side that is left out", async () => {
    await putInbox(file);
    writeFileSync(join(folder, ".env"), `DATABASE_URL=${env.DATABASE_URL}\n`);
    expect(await runCommand(FROM, { cwd: folder })).toMatchObject({ code: 0 });
    expect(existsSync(target)).toBe(true);
  });

  test("ends with 1 and one sentence when the copy is another one than was read", async () => {
    await putInbox(file);
    await new SqliteInbox({ file: target }).close();
    const db = new Sqlite(target);
    db.exec(
      `CREATE TRIGGER spoil AFTER INSERT ON cursor BEGIN UPDATE cursor SET position = '1'; END`,
    );
    db.close();
    const { code, out, err } = await copy();
    expect(code).toBe(1);
    expect(out).toMatch(/cursor +1 +[0-9a-f]+ +DIFFERENT/);
    expect(err).toMatch(/is not what was copied from .*: cursor\./);
    expect(err).not.toContain("\n");
  });

  test("ends with 1 while a bot has the inbox", async () => {
    const inbox = new SqliteInbox({ file });
    onTestFinished(() => inbox.close());
    const { code, err } = await copy();
    expect(code).toBe(1);
    expect(err).toContain("stop it first");
  });

  test.each<[string[], string]>([
    [[], "--from"],
    [["--from", "bot.db"], "--from must be"],
    [["--to", "file::memory:"], "--to names an inbox in memory"],
    [["--reopen", "--to", "file:x.db"], "--reopen"],
    [["--from", "file:a", "extra"], "extra"],
    [["--from", "file:a", "--force"], "--dry-run"],
  ])("%j ends with 2", async (args, names) => {
    const { code, err } = await runCommand(["inbox", "copy", ...args], { cwd: folder });
    expect(code).toBe(2);
    expect(err.split("Usage:")[0]).toContain(names);
  });

  test("needs a target that is another place, and a source that is there", async () => {
    await putInbox(file);
    const bare = await runCommand(FROM, { cwd: folder });
    expect(bare).toMatchObject({ code: 2, err: expect.stringContaining("--to is missing") });
    const itself = await runCommand([...FROM, "--to", `file:${file}`], { cwd: folder });
    expect(itself).toMatchObject({ code: 2, err: expect.stringContaining("into itself") });
    const cwd = temporaryFolder();
    const missing = await runCommand([...FROM, "--to", "file:x.db"], { cwd });
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("no inbox at") });
    expect(existsSync(join(cwd, "x.db"))).toBe(false);
  });
});
