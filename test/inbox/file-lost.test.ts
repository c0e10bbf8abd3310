import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  attachInbox,
  backUpFile,
  markFile,
  restoreFile,
  type SqliteInbox,
} from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { listenTo } from "../support/channels.ts";
import { messages } from "../support/inbox-events.ts";
import { replaceFs } from "../support/replaced-fs.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const HOLDER = fileURLToPath(new URL("./holder.ts", import.meta.url));
const START = 1_800_000_000_000;

let folder: string;
let file: string;
let clock: ManualClock;

beforeEach(() => {
  folder = join(temporaryFolder(), "data");
  file = join(folder, "bot.db");
  clock = new ManualClock(START);
});

function open(path = file, bot?: object): SqliteInbox {
  return openSqlite({ file: path, clock, bot });
}

async function idsIn(inbox: SqliteInbox): Promise<string[]> {
  return (await inbox.admin.list()).events.map(({ id }) => id).sort();
}

async function idsAfterRestart(): Promise<string[]> {
  const inbox = open();
  const ids = await idsIn(inbox);
  await inbox.close();
  return ids;
}

const isLost = (name: string) => ({
  code: "STORE_UNAVAILABLE",
  message: expect.stringContaining(join(folder, name)),
});

const inboxLost = expect.objectContaining({ code: "INBOX_LOST" });

/** Copies of the database that a running bot has saved. */
const savedCopies = () =>
  readdirSync(folder)
    .filter((name) => /\.saved-\w+$/.test(name))
    .map((name) => join(folder, name));

/** Overwrites the file in its place, as `cp` does. */
function overwrite(from: string, to: string): void {
  truncateSync(to, 0);
  copyFileSync(from, to);
}

/** Restores as the `sqlite3` shell does: SQLite writes the other contents to the WAL. */
function restoreOver(copy: string): void {
  const backup = new Sqlite(copy);
  const other = new Sqlite(file);
  other.pragma(`application_id = ${backup.pragma("application_id", { simple: true })}`);
  for (const db of [backup, other]) db.close();
}

function emptyFolder(): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
}

async function copyOfEarlierRun(): Promise<string> {
  const inbox = open();
  await inbox.put(messages("0"), "webhook");
  await inbox.close();
  const copy = join(folder, "copy.db");
  copyFileSync(file, copy);
  await open().close();
  return copy;
}

const accidents: readonly (readonly [what: string, lost: string, act: (copy: string) => void])[] = [
  ["a removed database", "bot.db", () => rmSync(file)],
  ["a moved database", "bot.db", () => renameSync(file, `${file}.old`)],
  ["a database replaced by a copy", "bot.db", (copy) => renameSync(copy, file)],
  [
    "a database removed and copied again",
    "bot.db",
    (copy) => {
      rmSync(file);
      copyFileSync(copy, file);
    },
  ],
  ["a database overwritten in its place", "bot.db", (copy) => overwrite(copy, file)],
  ["a database restored in its place with SQLite", "bot.db", (copy) => restoreOver(copy)],
  ["an emptied database", "bot.db", () => truncateSync(file, 0)],
  ["a removed WAL", "bot.db-wal", () => rmSync(`${file}-wal`)],
  [
    "a replaced WAL",
    "bot.db-wal",
    () => {
      copyFileSync(`${file}-wal`, `${file}-2`);
      renameSync(`${file}-2`, `${file}-wal`);
    },
  ],
  ["an emptied WAL", "bot.db-wal", () => truncateSync(`${file}-wal`, 0)],
  ["a removed index of the WAL", "bot.db-shm", () => rmSync(`${file}-shm`)],
  ["a removed lock", "bot.db-lock", () => rmSync(`${file}-lock`)],
  ["a moved folder", "bot.db", () => renameSync(folder, `${folder}.old`)],
  ["a removed folder", "bot.db", () => rmSync(folder, { recursive: true })],
];

describe.each(accidents)("%s", (_, lost, act) => {
  test("is named within a second, and nothing is stored from then on", async () => {
    const copy = await copyOfEarlierRun();
    const bot = {};
    const told: unknown[] = [];
    const failures: string[] = [];
    listenTo(bot, {
      "inbox-file": ({ problem }) => void told.push(problem),
      "store-failure": ({ reason }) => void failures.push(reason),
    });
    const inbox = open(file, bot);
    await inbox.put(messages("1"), "webhook");
    expect(inbox.problem).toBeUndefined();
    act(copy);
    await clock.advance(1_000);
    expect(inbox.problem).toMatchObject({ message: isLost(lost).message });
    expect(told[0]).toBe(inbox.problem?.message);
    await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject(isLost(lost));
    await expect(inbox.claim(1, 1_000)).rejects.toMatchObject(isLost(lost));
    await expect(inbox.ping()).rejects.toMatchObject(isLost(lost));
    await expect(inbox.measure()).rejects.toMatchObject(isLost(lost));
    expect(new Set(failures)).toEqual(new Set(["file_lost"]));
  });
});

describe("a path with symbolic links", () => {
  test.each([
    ["file", "link.db"],
    ["folder", "link/bot.db"],
  ])("to the %s leads a first start to the target, and its loss is named", async (kind, name) => {
    mkdirSync(folder);
    const target = kind === "file" ? file : folder;
    const link = join(folder, "..", kind === "file" ? name : "link");
    symlinkSync(target, link);
    const inbox = open(join(folder, "..", name));
    await inbox.put(messages("1"), "webhook");
    rmSync(link);
    await clock.advance(1_000);
    const problem = { message: expect.stringContaining(join(folder, "..", name)) };
    expect(inbox.problem).toMatchObject(problem);
    await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject(problem);
    symlinkSync(target, link);
    await clock.advance(1_000);
    expect(inbox.problem).toBeUndefined();
  });
});

describe("a database overwritten by a copy of the same run", () => {
  /** Checkpoints the WAL as a busy bot does. */
  async function checkpoint(): Promise<void> {
    const other = new Sqlite(file);
    other.pragma("wal_checkpoint(PASSIVE)");
    other.close();
    await clock.advance(1_000);
    await clock.advance(1_000);
  }

  test.each([
    ["backup", (to: string) => backUpFile(file, to)],
    ["copy", (to: string) => copyFileSync(file, to)],
  ])("is named if the copy is a %s", async (_, make) => {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    await checkpoint();
    const copy = join(folder, "copy.db");
    await make(copy);
    await inbox.put(messages("2"), "webhook");
    await checkpoint();
    expect(inbox.problem).toBeUndefined();
    overwrite(copy, file);
    await clock.advance(1_000);
    await expect(inbox.put(messages("3"), "webhook")).rejects.toMatchObject(isLost("bot.db"));
  });

  test("is not combined with the WAL of the killed bot", async () => {
    const holder = spawn(process.execPath, [HOLDER, file]);
    onTestFinished(() => void holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    const copy = join(folder, "copy.db");
    await backUpFile(file, copy);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    overwrite(copy, file);
    expect(() => open()).toThrow(inboxLost);
    expect(() => attachInbox(file)).toThrow(inboxLost);
    markFile(file, { at: START });
    expect(readdirSync(folder).filter((name) => /\.before-\w+-wal$/.test(name))).toHaveLength(1);
    expect(await idsAfterRestart()).toEqual(["1"]);
  });
});

test("a delivery is refused at once, even before the next check", async () => {
  const inbox = open();
  await inbox.put(messages("1"), "webhook");
  rmSync(file);
  await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject(isLost("bot.db"));
});

test("a batch is not acknowledged if the file is removed while it is synced", async () => {
  const inbox = open();
  await inbox.put(messages("1"), "webhook");
  replaceFs({
    fdatasync: (_: number, done: (error: null) => void) => {
      rmSync(file, { force: true });
      queueMicrotask(() => done(null));
    },
  });
  await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject(isLost("bot.db"));
});

describe("a moved file", () => {
  test("is not written to", async () => {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    renameSync(file, `${file}.old`);
    const before = readFileSync(`${file}.old`);
    await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject(isLost("bot.db"));
    await clock.advance(60_000);
    await inbox.close();
    expect(readFileSync(`${file}.old`).equals(before)).toBe(true);
  });

  test("is used again once it is back", async () => {
    const bot = {};
    const told: unknown[] = [];
    listenTo(bot, { "inbox-file": ({ problem }) => void told.push(problem) });
    const inbox = open(file, bot);
    await inbox.put(messages("1"), "webhook");
    renameSync(file, `${file}.old`);
    await clock.advance(1_000);
    renameSync(`${file}.old`, file);
    await clock.advance(1_000);
    expect(inbox.problem).toBeUndefined();
    expect(told).toEqual([expect.stringContaining("bot.db"), undefined]);
    await inbox.put(messages("2"), "webhook");
    await inbox.close();
    expect(await idsAfterRestart()).toEqual(["1", "2"]);
  });

  test("is not saved, because it still exists", async () => {
    const inbox = open();
    renameSync(file, `${file}.old`);
    await clock.advance(1_000);
    await inbox.close();
    expect(savedCopies()).toEqual([]);
  });
});

describe("a deleted file", () => {
  async function deleteAndSave(act: () => void): Promise<string> {
    const inbox = open();
    await inbox.put(messages("1", "2"), "webhook");
    act();
    await clock.advance(1_000);
    await inbox.close();
    const [saved = ""] = savedCopies();
    return saved;
  }

  test.each<[string, () => void]>([
    ["alone", () => rmSync(file)],
    ["with all files beside it", () => emptyFolder()],
    ["with its folder", () => rmSync(folder, { recursive: true })],
  ])("%s is saved with every acknowledged event", async (_, act) => {
    const saved = await deleteAndSave(act);
    expect(() => open()).toThrow(inboxLost);
    expect(() => open()).toThrow(saved);
    renameSync(saved, file);
    expect(await idsAfterRestart()).toEqual(["1", "2"]);
  });

  test("whose place a copy has taken is saved too, and the copy is not used", async () => {
    const copy = await copyOfEarlierRun();
    const saved = await deleteAndSave(() => renameSync(copy, file));
    expect(() => open()).toThrow(inboxLost);
    renameSync(saved, file);
    expect(await idsAfterRestart()).toEqual(["0", "1", "2"]);
  });

  test("is not taken for a later file with its inode", async () => {
    const copy = await copyOfEarlierRun();
    await deleteAndSave(() => rmSync(file));
    // File systems give the inode of a deleted file to the next one.
    copyFileSync(copy, file);
    expect(() => open()).toThrow(inboxLost);
  });

  test("is not saved on a disk without room", async () => {
    const bot = {};
    const errors: unknown[] = [];
    listenTo(bot, { "inbox-file": ({ error }) => void errors.push(error) });
    const inbox = open(file, bot);
    replaceFs({ statfsSync: () => ({ bavail: 1, bsize: 1 }) });
    rmSync(file);
    await clock.advance(1_000);
    await inbox.close();
    expect(savedCopies()).toEqual([]);
    expect(errors).toContainEqual(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
  });
});

test("the events in a removed WAL are in the database before the bot stops", async () => {
  const inbox = open();
  await inbox.put(messages("1"), "webhook");
  rmSync(`${file}-wal`);
  await clock.advance(1_000);
  copyFileSync(file, join(folder, "copy.db"));
  expect(await idsIn(open(join(folder, "copy.db")))).toEqual(["1"]);
  await inbox.close();
  expect(await idsAfterRestart()).toEqual(["1"]);
});

test("another SQLite library in the bot's process removes the WAL, which loses no acknowledged event", async () => {
  const inbox = open();
  await inbox.put(messages("1"), "webhook");
  // A process's locks do not exclude itself, so the other library takes itself for the only user.
  const other = new DatabaseSync(file);
  other.prepare("SELECT id FROM event").all();
  other.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject(isLost("bot.db-wal"));
  await inbox.close();
  expect(await idsAfterRestart()).toEqual(["1"]);
});

describe("the next start", () => {
  async function killBotAfter(act: () => void): Promise<void> {
    const holder = spawn(process.execPath, [HOLDER, file]);
    onTestFinished(() => void holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    act();
    holder.kill("SIGKILL");
    await once(holder, "exit");
  }

  async function fill(): Promise<void> {
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    await inbox.close();
  }

  test.each<[string, () => void]>([
    ["removed", () => rmSync(file)],
    ["moved", () => renameSync(file, `${file}.old`)],
    ["emptied", () => truncateSync(file, 0)],
  ])("refuses if the inbox was %s meanwhile, and says what to delete", async (_, act) => {
    await fill();
    act();
    expect(() => open()).toThrow(inboxLost);
    expect(() => open()).toThrow("bot.db-holder");
    expect(() => attachInbox(file)).toThrow(inboxLost);
  });

  test("begins an empty inbox once every file is deleted", async () => {
    await fill();
    emptyFolder();
    expect(await idsAfterRestart()).toEqual([]);
  });

  test("refuses if only a WAL with events is left", () => {
    mkdirSync(folder, { recursive: true });
    fs.writeFileSync(`${file}-wal`, "frames");
    expect(() => open()).toThrow(inboxLost);
    expect(existsSync(file)).toBe(false);
  });

  test("after a first start that was killed before it created the tables creates them", async () => {
    mkdirSync(folder, { recursive: true });
    for (const name of ["bot.db", "bot.db-lock"]) fs.writeFileSync(join(folder, name), "");
    expect(await idsAfterRestart()).toEqual([]);
  });

  test("takes a copy that replaced a closed inbox", async () => {
    const copy = await copyOfEarlierRun();
    await fill();
    renameSync(copy, file);
    expect(await idsAfterRestart()).toEqual(["0"]);
  });

  test("does not combine a copy with the WAL of a killed bot", async () => {
    const copy = await copyOfEarlierRun();
    await killBotAfter(() => renameSync(copy, file));
    expect(() => open()).toThrow(inboxLost);
  });

  test("takes the folder of a killed bot from another disk, where a file can have the inode of an old one", async () => {
    await killBotAfter(() => undefined);
    const moved = join(`${folder}.moved`, "bot.db");
    cpSync(folder, dirname(moved), { recursive: true });
    const record = readFileSync(`${file}-holder`, "utf8");
    const { ino } = statSync(`${moved}-wal`, { bigint: true });
    fs.writeFileSync(`${moved}-holder`, record.replace(/("wal":")\d+/, `$1${ino}`));
    expect(await idsIn(open(moved))).toEqual(["1"]);
  });

  test("takes a replaced inbox that an operator has marked as restored", async () => {
    const copy = await copyOfEarlierRun();
    const inbox = open();
    await inbox.put(messages("1"), "webhook");
    renameSync(copy, file);
    await clock.advance(1_000);
    await inbox.close();
    expect(() => open()).toThrow(inboxLost);
    markFile(file, { at: START });
    expect(await idsAfterRestart()).toEqual(["0"]);
  });

  test("takes a backup that was restored in the place of a lost inbox", async () => {
    const copy = await copyOfEarlierRun();
    await fill();
    rmSync(file);
    expect(() => open()).toThrow(inboxLost);
    await restoreFile(copy, file, { at: START }, true);
    expect(await idsAfterRestart()).toEqual(["0"]);
  });
});

describe("commands beside the bot", () => {
  test("name a file that was removed under the bot", () => {
    open();
    rmSync(file);
    expect(() => attachInbox(file)).toThrow(inboxLost);
  });

  test("name a problem that only the bot can see", async () => {
    const copy = await copyOfEarlierRun();
    open();
    overwrite(copy, file);
    await clock.advance(1_000);
    expect(() => attachInbox(file)).toThrow(inboxLost);
  });
});

describe("a hard link to the inbox", () => {
  const link = () => join(folder, "link.db");

  test("lets no second bot in, and no command", () => {
    open();
    linkSync(file, link());
    for (const use of [open, attachInbox]) {
      expect(() => use(link())).toThrow(expect.objectContaining({ code: "INBOX_UNUSABLE" }));
    }
  });

  test("does not disturb the bot that has the file open", async () => {
    const inbox = open();
    linkSync(file, link());
    await clock.advance(1_000);
    await inbox.put(messages("1"), "webhook");
    expect(inbox.problem).toBeUndefined();
  });
});

test("a file that is mounted without its folder is refused", () => {
  open();
  const { statSync } = fs;
  const other = vi.fn((path: string, options?: object) => {
    const found = statSync(path, options);
    return path === join(folder, "mounted.db") ? Object.assign(found ?? {}, { dev: -1 }) : found;
  });
  fs.writeFileSync(join(folder, "mounted.db"), "x");
  replaceFs({ statSync: other });
  expect(() => open(join(folder, "mounted.db"))).toThrow(/Mount the folder/);
});

test("a commit of another process and its checkpoint are no problem", async () => {
  const inbox = open();
  await inbox.put(messages("1"), "webhook");
  await clock.advance(1_000);
  const other = new DatabaseSync(file);
  for (const mode of ["PASSIVE", "TRUNCATE"]) {
    other.exec(
      "INSERT INTO cursor (name, position) VALUES ('x', '1') ON CONFLICT DO UPDATE SET position = position + 1",
    );
    other.exec(`PRAGMA wal_checkpoint(${mode})`);
    await clock.advance(1_000);
    await inbox.put(messages(mode), "webhook");
  }
  expect(inbox.problem).toBeUndefined();
});
