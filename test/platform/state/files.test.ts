import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { ConfigError } from "../../faces/errors.ts";
import { startPlatform, whyUnusable } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { act, ids, runPlatform } from "../support/platform.ts";

const newFile = () => join(temporaryFolder(), "state.db");

function database(file: string, sql: string): string {
  const db = new Sqlite(file);
  db.exec(sql);
  db.close();
  return file;
}

async function stateFile(sql = ""): Promise<string> {
  const file = newFile();
  await (await runPlatform({ stateFile: file })).stop();
  return database(file, sql);
}

const unusable: readonly [string, () => string | Promise<string>, RegExp][] = [
  [
    "no SQLite file",
    () => text("canary ".repeat(500)),
    /is not a SQLite file; choose another file/,
  ],
  ["a short text", () => text("canary"), /is not a SQLite file; choose another file/],
  ["a directory", () => temporaryFolder(), /is a directory; choose a file$/],
  ["below a file", () => join(text("x"), "state.db"), /is a file; choose another/],
  ["far below a file", () => join(text("x"), "a", "state.db"), /is a file; choose/],
  [
    "somebody else's database",
    () => database(newFile(), "CREATE TABLE event (x)"),
    /not a platform state file; choose another file$/,
  ],
  [
    "a database with a version, and without tables",
    () => database(newFile(), "PRAGMA user_version = 1"),
    /not a platform state file; choose another file$/,
  ],
  [
    "a newer version",
    () => stateFile("PRAGMA user_version = 999"),
    /a newer version of service-bot; update service-bot, or choose another file$/,
  ],
  ["damaged", damaged, /is damaged; restore a copy, or remove it$/],
];

function text(content: string): string {
  const file = newFile();
  writeFileSync(file, content);
  return file;
}

/** Corrupts the first page, which refers to all the others. */
async function damaged(): Promise<string> {
  const file = await stateFile("VACUUM; PRAGMA journal_mode = DELETE");
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 100, 4_096);
  writeFileSync(file, bytes);
  return file;
}

test.each(unusable)(
  "a state file that is %s is reported in one sentence, and not modified",
  async (_, make, said) => {
    const file = await make();
    const before = contentOf(file);
    const error = await startPlatform({ stateFile: file }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    const [problem = "", ...others] = error instanceof ConfigError ? error.problems : [];
    expect(others).toEqual([]);
    expect(problem).toMatch(said);
    expect(problem).toContain(`stateFile: `);
    expect(problem).toContain(file);
    expect(problem).not.toContain("canary");
    expect(contentOf(file)).toEqual(before);
  },
);

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

test.skipIf(process.getuid?.() === 0)("an unwritable file is reported", async () => {
  const said = /is not writable; change the permissions/;
  const file = await stateFile();
  chmodSync(file, 0o444);
  await expect(startPlatform({ stateFile: file })).rejects.toThrow(said);
  const folder = join(temporaryFolder(), "locked");
  mkdirSync(folder, { mode: 0o555 });
  await expect(startPlatform({ stateFile: join(folder, "a.db") })).rejects.toThrow(said);
  await expect(startPlatform({ stateFile: join(folder, "b", "a.db") })).rejects.toThrow(said);
});

test.each([
  ["SQLITE_READONLY", /is not writable; change the permissions of the file and its folder/],
  ["SQLITE_READONLY_DIRECTORY", /is not writable/],
  ["SQLITE_CANTOPEN", /is not writable/],
  ["EACCES", /is not writable/],
  ["EROFS", /is not writable/],
  ["SQLITE_BUSY", /another platform uses/],
  ["SQLITE_BUSY_RECOVERY", /another platform uses/],
  ["SQLITE_FULL", /the disk of .* is full; free some/],
  ["ENOSPC", /is full/],
  ["SQLITE_CORRUPT_INDEX", /is damaged/],
  ["ENAMETOOLONG", /cannot use .* \(words\); choose another file/],
])("the error %s is reported with its remedy", (code, said) => {
  const error = Object.assign(new Error("words"), { code });
  expect(whyUnusable(error, "/nowhere/state.db")).toMatch(said);
});

test("limits and storage are saved in the state file, and options override them", async () => {
  const file = newFile();
  const first = await runPlatform({ stateFile: file, limits: { postsPerDay: 1 } });
  first.control.setLimits({ dmsPerDay: 2 });
  first.control.setStorage({ configured: false });
  await first.stop();
  const second = await runPlatform({ stateFile: file, limits: { dmsPerDay: 3 } });
  expect(second.control.limits).toMatchObject({
    postsPerDay: { limit: 1 },
    dmsPerDay: { limit: 3 },
    uploadsPerDay: { limit: null },
  });
  expect(second.control.storage).toEqual({ configured: false });
  second.control.reset();
  expect(second.control.limits).toMatchObject({ postsPerDay: { limit: null } });
  await second.stop();
  const third = await runPlatform({ stateFile: file });
  expect(third.control.limits).toMatchObject({
    postsPerDay: { limit: null },
    dmsPerDay: { limit: 3 },
  });
  expect(third.control.storage).toEqual({ configured: true });
});

test("after the next start a state file contains the restored state, and no trace of the previous state", async () => {
  const file = newFile();
  const first = await runPlatform({ stateFile: file });
  first.control.createPerson({ username: "cleo" });
  const { id } = first.control.snapshots.take();
  first.control.createPerson({ username: "dora" });
  const [last] = ids(act(first, "follow"));
  first.control.snapshots.restore(id);
  expect(ids(act(first, "follow"))[0]).not.toBe(last);
  await expect(startPlatform({ stateFile: file })).rejects.toThrow(/another platform uses/);
  await first.stop();
  expect(readdirSync(dirname(file))).toEqual(["state.db"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const second = await runPlatform({ stateFile: file });
  const names = second.control.people.map(({ username }) => username);
  expect(names).toEqual(["ada", "ben", "cleo"]);
});
