import fs, { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { replaceFs } from "../support/replaced-fs.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LEASE = 30_000;

let file: string;

beforeEach(() => {
  file = join(temporaryFolder(), "bot.db");
});

function open(path: string, maxBacklog?: number): SqliteInbox {
  const clock = new ManualClock(1_800_000_000_000);
  return openSqlite({ file: path, clock, ...(maxBacklog && { maxBacklog }) });
}

/** Makes syncs fail while `isBroken` returns true. */
function breakSyncs(isBroken: () => boolean): void {
  const error = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
  const fdatasync = (_fd: number, done: (error: Error | null) => void) =>
    queueMicrotask(() => done(isBroken() ? error : null));
  replaceFs({ fdatasync });
}

test.skipIf(process.platform === "win32")("an inbox behind a symbolic link is synced", async () => {
  await new SqliteInbox({ file }).close();
  const link = join(temporaryFolder(), "link.db");
  symlinkSync(file, link);
  expect(await open(link).put(messages("1"), "webhook")).toMatchObject({ stored: ["1"] });
});

test("after a failed sync, the WAL is written again before the next one", async () => {
  const inbox = open(file);
  let isBroken = true;
  const calls: string[] = [];
  breakSyncs(() => {
    calls.push(isBroken ? "failed sync" : "sync");
    return isBroken;
  });
  const written: Buffer[] = [];
  const { writeSync } = fs;
  replaceFs({
    writeSync: (fd: number, bytes: Buffer, offset: number, length: number, at: number) => {
      calls.push("write");
      written.push(Buffer.from(bytes.subarray(offset, offset + length)));
      return writeSync(fd, bytes, offset, length, at);
    },
  });
  await expect(inbox.put(messages("1"), "webhook")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  isBroken = false;
  await inbox.put(messages("1"), "webhook");
  expect(calls).toEqual(["failed sync", "write", "sync"]);
  expect(Buffer.concat(written).equals(readFileSync(`${file}-wal`))).toBe(true);
  await inbox.put(messages("2"), "webhook");
  expect(calls.slice(3)).toEqual(["sync"]);
});

test("while the WAL may be incomplete on disk, no commit checkpoints it", async () => {
  const { db, disk, close } = openFile(file);
  onTestFinished(close);
  const pages = () => db.pragma("wal_autocheckpoint", { simple: true });
  let isBroken = true;
  breakSyncs(() => isBroken);
  await expect(disk?.wal.sync()).rejects.toMatchObject({ code: "EIO" });
  expect(pages()).toBe(0);
  isBroken = false;
  await disk?.wal.sync();
  expect(pages()).toBe(1_000);
});

test("what a failed sync has committed is announced and counted", async () => {
  const inbox = open(file, 1);
  await inbox.put([message("1")], "webhook");
  await inbox.bury(first(await inbox.claim(1, LEASE)), "boom");
  let announced = 0;
  inbox.onReady(() => {
    announced += 1;
  });
  breakSyncs(() => true);
  await expect(inbox.admin.retry("1")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(announced).toBeGreaterThan(0);
  await expect(inbox.put([message("2")], "webhook")).rejects.toMatchObject({ code: "INBOX_FULL" });
});
