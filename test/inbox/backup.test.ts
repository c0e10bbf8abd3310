import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, test } from "vitest";
import { RESTORED, type RestoreMark, readRestoreMark } from "../faces/inbox.ts";
import { backUpFile, markFile, restoreFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { copyAsKilled } from "../support/killed-copy.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const mark: RestoreMark = { at: 1_800_000_000_000 };

let folder: string;
let file: string;
let backup: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "bot.db");
  backup = join(folder, "backups", "1.db");
  mkdirSync(join(folder, "backups"));
});

async function fill(...ids: readonly string[]): Promise<void> {
  const inbox = new SqliteInbox({ file });
  await inbox.put(
    ids.map((id) => message(id)),
    "webhook",
  );
  await inbox.close();
}

async function read(place = file) {
  const inbox = new SqliteInbox({ file: place });
  const { events } = await inbox.admin.list();
  const restored = readRestoreMark(await inbox.cursor(RESTORED));
  await inbox.close();
  return { ids: events.map(({ id }) => id).sort(), restored };
}

/** Keeps an inbox with event 1 open, as a running bot does. */
async function hold(): Promise<SqliteInbox> {
  const inbox = openSqlite({ file });
  await inbox.put([message("1")], "webhook");
  return inbox;
}

/** Leaves event 1 as a killed process would, with its commit only in the WAL. */
async function leaveKilled(): Promise<void> {
  const inbox = await hold();
  const left = copyAsKilled(file, join(folder, "left.db"));
  await inbox.close();
  for (const suffix of ["", "-wal"]) renameSync(`${left}${suffix}`, `${file}${suffix}`);
}

describe("a backup", () => {
  test("a backup is a single private file that can be opened", async () => {
    await fill("1", "2");
    const report = await backUpFile(file, backup);
    expect(report).toMatchObject({ from: file, file: backup, events: 2, pending: 2 });
    expect(report.bytes).toBe(statSync(backup).size);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, "backups"))).toEqual(["1.db"]);
    expect((await read(backup)).ids).toEqual(["1", "2"]);
  });

  test("is of one moment, while another connection writes between its pages", async () => {
    await fill("0");
    const bot = openSqlite({ file });
    const body = "x".repeat(2_000);
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...message(String(from + n)), body }));
    await bot.put(many(1, 5_000), "webhook");
    const shown: number[] = [];
    const writes: Promise<unknown>[] = [];
    const { events } = await backUpFile(file, backup, ({ pages }) => {
      shown.push(pages);
      writes.push(bot.put(many(100_000 + shown.length * 10, 10), "webhook"));
    });
    await Promise.all(writes);
    expect(shown.length).toBeGreaterThan(2);
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(events).toBe(5_001);
  });

  test("replaces nothing, and leaves nothing behind where it fails", async () => {
    await fill("1");
    writeFileSync(backup, "mine");
    await expect(backUpFile(file, backup)).rejects.toMatchObject({ code: "INBOX_NOT_EMPTY" });
    expect(readFileSync(backup, "utf8")).toBe("mine");
    const nowhere = join(folder, "nowhere", "1.db");
    await expect(backUpFile(file, nowhere)).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
    await expect(backUpFile(join(folder, "other.db"), nowhere)).rejects.toMatchObject({
      code: "INBOX_MISSING",
    });
    expect(readdirSync(join(folder, "backups"))).toEqual(["1.db"]);
  });

  test("of a file that is damaged fails, and is not there then", async () => {
    await fill(...Array.from({ length: 300 }, (_, n) => String(n)));
    damage(file);
    await expect(backUpFile(file, backup)).rejects.toMatchObject({
      code: expect.stringMatching(/^(INBOX_UNUSABLE|STORE_UNAVAILABLE)$/),
    });
    expect(readdirSync(join(folder, "backups"))).toEqual([]);
  });
});

/** Swaps two pages of the event table. Only a check of every event detects this damage. */
function damage(place: string): void {
  const bytes = readFileSync(place);
  const [a, b] = [bytes.length / 4096 - 2, bytes.length / 4096 - 3].map((page) => page * 4096);
  const pages = [a ?? 0, b ?? 0].map((at) => Buffer.from(bytes.subarray(at, at + 4096)));
  pages[1]?.copy(bytes, a);
  pages[0]?.copy(bytes, b);
  writeFileSync(place, bytes);
}

describe("a restore", () => {
  test("puts the backup in its place, marked, and leaves the backup as it is", async () => {
    await fill("1");
    await backUpFile(file, backup);
    const before = readFileSync(backup);
    const place = join(folder, "elsewhere", "deep", "bot.db");
    const report = await restoreFile(backup, place, mark, false);
    expect(report).toEqual({ place, movedTo: undefined, events: 1, pending: 1 });
    expect(statSync(place).mode & 0o777).toBe(0o600);
    expect(await read(place)).toEqual({ ids: ["1"], restored: mark });
    expect(readFileSync(backup).equals(before)).toBe(true);
    expect((await read(backup)).restored).toBeUndefined();
  });

  test.each(["", "-wal", "-shm", "-journal"])(
    "replaces nothing: there is a bot.db%s already",
    async (suffix) => {
      await fill("1");
      await backUpFile(file, backup);
      for (const each of ["", "-wal", "-shm"]) rmSync(`${file}${each}`, { force: true });
      writeFileSync(`${file}${suffix}`, "mine");
      await expect(restoreFile(backup, file, mark, false)).rejects.toMatchObject({
        code: "INBOX_NOT_EMPTY",
        message: expect.stringContaining("--move-old"),
      });
      expect(readFileSync(`${file}${suffix}`, "utf8")).toBe("mine");
    },
  );

  test("moves aside what is there, with all that belongs to it", async () => {
    await fill("2");
    await backUpFile(file, backup);
    await leaveKilled();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    const { movedTo = "" } = await restoreFile(backup, file, mark, true);
    expect((await read()).ids).toEqual(["2"]);
    expect((await read(movedTo)).ids).toEqual(["1", "2"]);
  });

  test("takes the last commits of a file that was copied by hand from beside it", async () => {
    await hold();
    copyAsKilled(file, backup);
    const place = join(folder, "new.db");
    await restoreFile(backup, place, mark, false);
    expect((await read(place)).ids).toEqual(["1"]);
    expect(existsSync(`${backup}-wal`)).toBe(true);
  });

  test("is refused while a bot uses either of the two, and of a file to itself", async () => {
    await hold();
    await backUpFile(file, backup);
    const inUse = { code: "INBOX_IN_USE" };
    await expect(restoreFile(backup, file, mark, true)).rejects.toMatchObject(inUse);
    const place = join(folder, "new.db");
    await expect(restoreFile(file, place, mark, true)).rejects.toMatchObject(inUse);
    await expect(restoreFile(backup, backup, mark, true)).rejects.toMatchObject({
      code: "INBOX_NOT_EMPTY",
    });
    expect(existsSync(place)).toBe(false);
  });

  test("of what is no good is refused before anything is moved", async () => {
    await fill("1");
    const refused = (code: string) =>
      expect(restoreFile(backup, file, mark, true)).rejects.toMatchObject({ code });
    await refused("INBOX_MISSING");
    writeFileSync(backup, "not a database at all, of any kind whatever");
    await refused("INBOX_UNUSABLE");
    rmSync(backup);
    new Sqlite(backup).exec("CREATE TABLE t (a)").close();
    await refused("INBOX_UNUSABLE");
    rmSync(backup);
    await backUpFile(file, backup);
    const db = new Sqlite(backup);
    db.pragma("user_version = 999");
    db.close();
    await refused("INBOX_TOO_NEW");
    expect(readdirSync(folder).sort()).toEqual([
      "backups",
      "bot.db",
      "bot.db-holder",
      "bot.db-lock",
    ]);
    expect((await read()).ids).toEqual(["1"]);
  });

  test("of a file that is damaged is refused", async () => {
    await fill(...Array.from({ length: 300 }, (_, n) => String(n)));
    await backUpFile(file, backup);
    damage(backup);
    await expect(restoreFile(backup, join(folder, "new.db"), mark, false)).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
    });
  });
});

describe("a file that was put in its place by other means", () => {
  test("is marked where it is", async () => {
    await fill("1");
    expect(markFile(file, mark)).toMatchObject({ place: file, events: 1, pending: 1 });
    const later = { ...mark, at: mark.at + 1, until: 5 };
    markFile(file, later);
    expect(await read()).toEqual({ ids: ["1"], restored: later });
  });

  test("is not marked while a bot uses it, nor where there is none", async () => {
    expect(() => markFile(file, mark)).toThrow(expect.objectContaining({ code: "INBOX_MISSING" }));
    await hold();
    expect(() => markFile(file, mark)).toThrow(expect.objectContaining({ code: "INBOX_IN_USE" }));
  });
});

test("a mark survives what is done with the inbox, and a claim comes as from any other", async () => {
  await fill("1");
  markFile(file, mark);
  const inbox = openSqlite({ file });
  expect(await inbox.complete(first(await inbox.claim(1, 1_000)))).toBe(true);
  expect(readRestoreMark(await inbox.cursor(RESTORED))).toEqual(mark);
});
