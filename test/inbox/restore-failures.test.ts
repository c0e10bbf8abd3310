import fs, { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { RestoreMark } from "../faces/inbox.ts";
import { backUpFile, restoreFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { message } from "../support/inbox-events.ts";
import { replaceFs } from "../support/replaced-fs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const mark: RestoreMark = { at: 1_800_000_000_000 };

let folder: string;
let file: string;
let backup: string;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, "bot.db");
  backup = join(folder, "backups", "1.db");
  mkdirSync(join(folder, "backups"));
  await fill("1");
  await backUpFile(file, backup);
  await fill("2");
});

async function fill(id: string): Promise<void> {
  const inbox = new SqliteInbox({ file });
  await inbox.put([message(id)], "webhook");
  await inbox.close();
}

async function idsIn(place: string): Promise<string[]> {
  const inbox = new SqliteInbox({ file: place });
  const { events } = await inbox.admin.list();
  await inbox.close();
  return events.map(({ id }) => id).sort();
}

type Call = "fsyncSync" | "linkSync" | "renameSync";

/** Makes a file system call fail as on a broken disk, whenever `when` returns true. */
function breakDisk(call: Call, when: (path: unknown, to: unknown) => boolean = () => true): void {
  const real = fs[call];
  const broken = (path: never, to: never) => {
    if (when(path, to)) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    return real(path, to);
  };
  replaceFs({ [call]: broken });
}

const names = () => readdirSync(folder).filter((name) => !/-(lock|holder)$|^backups$/.test(name));
const isAside = (path: unknown) => String(path).includes(".before-");

test("the old inbox is in its place until the new one is on the disk", async () => {
  const inPlace: boolean[] = [];
  breakDisk("fsyncSync", () => {
    inPlace.push(existsSync(file));
    return inPlace.length === 1;
  });
  await expect(restoreFile(backup, file, mark, true)).rejects.toMatchObject({
    code: "INBOX_UNUSABLE",
    message: expect.stringContaining("EIO"),
  });
  expect(inPlace).toEqual([true]);
  expect(names()).toEqual(["bot.db"]);
});

test.each<[string, Call, (path: unknown, to: unknown) => boolean]>([
  ["given its name", "linkSync", (_, to) => to === file],
  [
    "known to the disk by its name",
    "fsyncSync",
    (handle) => fs.fstatSync(Number(handle)).isDirectory() && names().some(isAside),
  ],
])("the old inbox is moved back where the new one cannot be %s", async (_, call, when) => {
  breakDisk(call, when);
  await expect(restoreFile(backup, file, mark, true)).rejects.toThrow(/bot\.db.*EIO/);
  expect(names()).toEqual(["bot.db"]);
  expect(await idsIn(file)).toEqual(["1", "2"]);
});

test("what was moved before the rest could not be is moved back", async () => {
  fs.writeFileSync(`${file}-journal`, "");
  breakDisk("renameSync", (from) => from === `${file}-journal`);
  await expect(restoreFile(backup, file, mark, true)).rejects.toThrow("EIO");
  expect(names()).toEqual(["bot.db", "bot.db-journal"]);
});

test("a failed restore in an empty folder leaves no sign of a lost inbox", async () => {
  const fresh = join(folder, "fresh", "bot.db");
  breakDisk("linkSync");
  await expect(restoreFile(backup, fresh, mark, false)).rejects.toThrow("EIO");
  expect(await idsIn(fresh)).toEqual([]);
});

test("an old inbox that cannot be moved back is reported with its path", async () => {
  breakDisk("linkSync", (_, to) => to === file);
  breakDisk("renameSync", isAside);
  const failure = await restoreFile(backup, file, mark, true).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "INBOX_UNUSABLE" });
  const [aside = ""] = names();
  expect(names()).toEqual([
    expect.stringContaining("bot.db.before-"),
    expect.stringContaining("bot.db.restoring-"),
  ]);
  expect(String(failure)).toContain(join(folder, aside));
});

test.runIf(process.getuid?.() === 0)(
  "what root restores belongs to the owner of the folder",
  async () => {
    const own = join(folder, "own");
    mkdirSync(own);
    fs.chownSync(own, 4_321, 4_322);
    const place = join(own, "bot.db");
    await restoreFile(backup, place, mark, false);
    for (const each of [place, `${place}-lock`]) {
      expect(fs.statSync(each)).toMatchObject({ uid: 4_321, gid: 4_322 });
    }
  },
);

/** Ends a process's changes to the disk before its n-th one. */
function killBefore(n: number): { readonly restore: () => void } {
  const calls = ["renameSync", "linkSync", "unlinkSync", "rmSync"] as const;
  const real = Object.fromEntries(calls.map((name) => [name, fs[name]]));
  let count = 0;
  const limited =
    (work: (...args: never[]) => unknown) =>
    (...args: never[]) => {
      count += 1;
      if (count >= n) throw new Error("killed");
      return work(...args);
    };
  const replaced = calls.map((name) => [name, limited(real[name] as never)]);
  replaceFs(Object.fromEntries(replaced));
  return { restore: () => replaceFs(real) };
}

test("a restore that is killed leaves the old inbox or the backup, and the next start cleans up", async () => {
  const both = join(folder, "backups", "2.db");
  fs.copyFileSync(file, both);
  const found: string[] = [];
  for (let failure: unknown, n = 1; n === 1 || failure instanceof Error; n++) {
    for (const name of readdirSync(folder)) if (name !== "backups") fs.rmSync(join(folder, name));
    fs.copyFileSync(both, file);
    // SQLite ignores and deletes such a WAL.
    fs.writeFileSync(`${file}-wal`, "none");
    const { restore } = killBefore(n);
    failure = await restoreFile(backup, file, mark, true).catch((error: unknown) => error);
    restore();
    const inbox = new SqliteInbox({ file });
    const { events } = await inbox.admin.list();
    await inbox.close();
    found.push(`${events.length} events, ${inbox.restore?.outcome}`);
    expect(names().filter((name) => !isAside(name))).toEqual(["bot.db"]);
  }
  expect([...new Set(found)]).toEqual([
    "2 events, undefined",
    "2 events, undone",
    "1 events, finished",
    "1 events, undefined",
  ]);
});
